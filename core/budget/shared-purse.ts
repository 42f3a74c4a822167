/**
 * One purse for members that work on a delegation at the same time, in a team or in a triad's phase.
 *
 * Invariants:
 *   JP1. Spent and reserved amounts together never exceed the lease, in whatever order members spend, as long as no
 *        member spends more than its reservation.
 *   JP2. A member is lent what its next call needs; while much is left, a share of the rest, so that others can work at
 *        the same time.
 *   JP3. A request for more reports spent and reserved amounts separately; the parent counts both as used. Until the
 *        request is answered nothing else is lent.
 *   JP4. The unspent part of a reservation is free again with the member's next request, its question and its end.
 *   JP5. The lease is given back only when no other member works or holds a reservation.
 *   JP6. A member that disappears without reporting is charged its whole reservation.
 */
import type { Allowance, Lease, LeaseWish, Spending } from '../../contracts/budget.ts';
import { giveBack } from './purse.ts';
import type { Purse } from './purse.ts';
import { addSpending, mapSpending, measures, noSpending } from './spending.ts';
import type { Measure } from './spending.ts';

export interface PurseMember {
  readonly member: number;
  /** True for a member that makes no call until others have finished. */
  readonly rests: boolean;
  /** Reserved and not reported as spent. */
  readonly lent: Spending;
  /** Total that it has reported. */
  readonly spent: Spending;
  /** Milliseconds of work in total, as reported. */
  readonly worked_ms: number;
}

export interface SharedPurse {
  /** Its lease is the most that members may be lent; what they have spent counts against it. */
  readonly purse: Purse;
  readonly members: readonly PurseMember[];
  /** Spent and reserved amounts of the lease when more was requested; null when no request is open. */
  readonly asked: Spending | null;
}

export function openSharedPurse(purse: Purse): SharedPurse {
  return { purse, members: [], asked: null };
}

export function joinPurse(state: SharedPurse, member: number): SharedPurse {
  const joined = { member, rests: false, lent: noSpending, spent: noSpending, worked_ms: 0 };
  return { ...state, members: [...state.members, joined] };
}

export function leavePurse(state: SharedPurse, member: number): SharedPurse {
  return { ...state, members: state.members.filter((one) => one.member !== member) };
}

/** Charges a member that disappeared its whole reservation, and removes it. @returns `charged`: the reservation. */
export function loseMember(
  state: SharedPurse,
  member: number,
): { readonly state: SharedPurse; readonly charged: Spending } {
  const lost = state.members.find((one) => one.member === member);
  if (lost === undefined) return { state, charged: noSpending };
  const spent = addSpending(lost.spent, lost.lent);
  const told = { spent, worked_ms: lost.worked_ms };
  const settled = settleMember(state, member, told, noSpending);
  return { state: leavePurse(settled, member), charged: lost.lent };
}

export function setRest(state: SharedPurse, member: number, rests: boolean): SharedPurse {
  return change(state, member, (one) => ({ ...one, rests }));
}

/**
 * @param now Unix epoch milliseconds. @returns null when more must be requested, or a member must return something,
 * first.
 */
export function lendTo(
  state: SharedPurse,
  member: number,
  needs: Spending,
  now: number,
): { readonly state: SharedPurse; readonly lease: Lease } | null {
  const { lease } = state.purse;
  if (state.asked !== null || lease === null) return null;
  if (lease.until !== null && now >= lease.until) return null;
  const free = freeOf(state, lease);
  const atWork = state.members.filter(({ rests }) => !rests).length;
  const cut = (measure: Measure): number | null => {
    const amount = free[measure];
    if (amount === null) return null;
    return Math.max(needs[measure], Math.floor(amount / (2 * Math.max(1, atWork))));
  };
  const isEnough = measures.every((measure) => {
    const amount = free[measure];
    return amount === null || needs[measure] <= amount;
  });
  if (!isEnough) return null;
  const cutLease: Lease = {
    calls: cut('calls'),
    tokens: cut('tokens'),
    cost_micro_usd: cut('cost_micro_usd'),
    until: lease.until,
  };
  const lent = mapSpending((measure) => cutLease[measure] ?? 0);
  return { state: change(state, member, (one) => ({ ...one, lent })), lease: cutLease };
}

/**
 * Takes a member's report of its totals.
 *
 * @param kept The part of its reservation that it still holds.
 */
export function settleMember(
  state: SharedPurse,
  member: number,
  told: Pick<PurseMember, 'spent' | 'worked_ms'>,
  kept: Spending,
): SharedPurse {
  const before = state.members.find((one) => one.member === member);
  if (before === undefined) return state;
  const taken = mapSpending((measure) => Math.max(0, told.spent[measure] - before.spent[measure]));
  const worked = Math.max(0, told.worked_ms - before.worked_ms);
  const { purse } = state;
  return change(
    {
      ...state,
      purse: {
        ...purse,
        spent_of_lease: addSpending(purse.spent_of_lease, taken),
        spent: addSpending(purse.spent, taken),
        worked_ms: purse.worked_ms + worked,
      },
    },
    member,
    (one) => ({
      ...one,
      lent: kept,
      spent: addSpending(one.spent, taken),
      worked_ms: one.worked_ms + worked,
    }),
  );
}

/** Builds a request for more. The free rest of the lease goes back with it, as with any spender. */
export function askForMore(
  state: SharedPurse,
  needs: Spending,
): { readonly state: SharedPurse; readonly wish: LeaseWish } {
  const { purse } = state;
  const held = lentOf(state);
  const asked = addSpending(purse.spent_of_lease, held);
  const lease = purse.lease === null ? null : raise(asked, purse.lease, noSpending);
  const wish = { needs, spent: purse.spent, worked_ms: purse.worked_ms };
  return {
    state: { ...state, purse: { ...purse, lease }, asked },
    wish: isAny(held) ? { ...wish, held } : wish,
  };
}

/** @param lease Null when no more is granted: then the members finish with what they were lent. */
export function takeMore(state: SharedPurse, lease: Lease | null): SharedPurse {
  const { purse, asked } = state;
  if (asked === null) return state;
  if (lease === null) return { ...state, asked: null };
  const added = mapSpending((measure) => lease[measure] ?? 0);
  return { ...state, purse: { ...purse, lease: raise(asked, lease, added) }, asked: null };
}

/**
 * Takes back the reservation of a member that waits for the user. @returns `given`: the whole lease may go to others.
 */
export function giveBackFor(
  state: SharedPurse,
  member: number,
): { readonly state: SharedPurse; readonly given: boolean } {
  const freed = change(state, member, (one) => ({ ...one, lent: noSpending }));
  const isAlone = state.members.every((one) => one.member === member || one.rests);
  if (!isAlone || isAny(lentOf(freed)) || state.asked !== null)
    return { state: freed, given: false };
  return { state: { ...freed, purse: giveBack(state.purse) }, given: true };
}

/** Sets each limit of `lease` to the sum; a measure without a limit keeps none. */
function raise(base: Spending, lease: Lease, added: Spending): Lease {
  const sum = addSpending(base, added);
  const limit = (measure: Measure): number | null =>
    lease[measure] === null ? null : sum[measure];
  return {
    calls: limit('calls'),
    tokens: limit('tokens'),
    cost_micro_usd: limit('cost_micro_usd'),
    until: lease.until,
  };
}

function isAny(spending: Spending): boolean {
  return measures.some((measure) => spending[measure] > 0);
}

function lentOf({ members }: SharedPurse): Spending {
  return addSpending(...members.map(({ lent }) => lent));
}

function freeOf(state: SharedPurse, lease: Lease): Allowance {
  const taken = addSpending(state.purse.spent_of_lease, lentOf(state));
  const left = (measure: Measure): number | null => {
    const limit = lease[measure];
    return limit === null ? null : limit - taken[measure];
  };
  return { calls: left('calls'), tokens: left('tokens'), cost_micro_usd: left('cost_micro_usd') };
}

function change(
  state: SharedPurse,
  member: number,
  to: (one: PurseMember) => PurseMember,
): SharedPurse {
  return { ...state, members: state.members.map((one) => (one.member === member ? to(one) : one)) };
}
