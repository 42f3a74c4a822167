/**
 * The budget of a delegation or of a triad's phase: the reservation that its parent granted, and the children that spend
 * from it. One conversation spends from it directly; members that work at the same time are its children.
 *
 * Invariants:
 *   BN1. Spent and reserved amounts together never exceed the grant, in whatever order children spend, as long as no child
 *        spends more than its reservation.
 *   BN2. Without a grant, without room for the next call, or after its time, nothing is allowed until a new grant arrives.
 *   BN3. Later requests ask for what the last refused call needed, so that it is refused only once.
 *   BN4. A request for more reports spent and reserved amounts separately; the parent counts both as used. Until the
 *        request is answered nothing else is reserved.
 *   BN5. The unspent part of a child's reservation is free again with its next request, its question and its end.
 *   BN6. The grant is released only when no other child works or holds a reservation.
 *   BN7. A child that disappears without reporting is charged its whole reservation.
 */
import type { Usage } from '../../contracts/usage.ts';
import type { Allowance, Reservation, BudgetNeeds, Spending } from '../../contracts/budget.ts';
import { noUsage } from '../usage/add-usage.ts';
import {
  addSpending,
  mapAllowance,
  mapSpending,
  maxSpending,
  measures,
  noSpending,
  spendingOf,
  chargeOf,
  fits,
  lose,
  newChild,
  reserve,
  settle,
  sizeReservation,
} from './spending.ts';
import type { BudgetChild, ChildReport } from './spending.ts';

export interface NodeChild extends BudgetChild {
  readonly child: number;
  /** True for a child that makes no call until others have finished. */
  readonly rests: boolean;
}

export interface BudgetNode {
  /** Null before the first grant, and after it was released. */
  readonly grant: Reservation | null;
  /** Reported as spent since the grant arrived. */
  readonly spent_of_grant: Spending;
  readonly spent: Spending;
  /** Milliseconds of work in total. */
  readonly worked_ms: number;
  /** Most that the next call may take, as far as it is known. */
  readonly needs: Spending;
  readonly children: readonly NodeChild[];
  /** Spent and reserved amounts of the grant when more was requested; null when no request is open. */
  readonly requested: Spending | null;
}

/** One call of unknown size. */
const oneCall: Spending = { calls: 1, tokens: 0, cost_micro_usd: 0 };

export const emptyNode: BudgetNode = {
  grant: null,
  spent_of_grant: noSpending,
  spent: noSpending,
  worked_ms: 0,
  needs: oneCall,
  children: [],
  requested: null,
};

/**
 * Returns the node of work that begins; null without a budget.
 *
 * @param before Use of attempts that crashed: it counts as spent.
 */
export function openNode(grant: Reservation | null, before: Usage = noUsage): BudgetNode | null {
  return grant === null ? null : takeGrant({ ...emptyNode, spent: spendingOf(before) }, grant);
}

export function takeGrant(node: BudgetNode, grant: Reservation): BudgetNode {
  return { ...node, grant, spent_of_grant: noSpending };
}

/** Gives the rest of the grant to others, because the node now waits for the user. */
export function release(node: BudgetNode): BudgetNode {
  return { ...node, grant: null, spent_of_grant: noSpending };
}

export function spend(node: BudgetNode, spending: Spending, workedMs: number): BudgetNode {
  return {
    ...node,
    spent_of_grant: addSpending(node.spent_of_grant, spending),
    spent: addSpending(node.spent, spending),
    worked_ms: node.worked_ms + workedMs,
  };
}

/** Raises the needs after a call was refused because it may take this much. */
export function expectMore(node: BudgetNode, needs: Spending): BudgetNode {
  return { ...node, needs: maxSpending(oneCall, needs) };
}

/** @param now Unix epoch milliseconds. @returns the rest of the grant; null when another grant is needed first. */
export function allowanceOf(node: BudgetNode, now: number): Allowance | null {
  const free = freeOf(node, now);
  return free !== null && fits(node.needs, free) ? free : null;
}

/** Returns the rest of the grant: zero for a measure without a limit, and zero without a grant. */
export function leftOf({ grant, spent_of_grant }: BudgetNode): Spending {
  return mapSpending((measure) => Math.max(0, (grant?.[measure] ?? 0) - spent_of_grant[measure]));
}

export function joinNode(node: BudgetNode, child: number): BudgetNode {
  return { ...node, children: [...node.children, { ...newChild, child, rests: false }] };
}

export function leaveNode(node: BudgetNode, child: number): BudgetNode {
  return { ...node, children: node.children.filter((one) => one.child !== child) };
}

/** Removes a child that disappeared. @returns `charged`: its reservation. */
export function loseChild(
  node: BudgetNode,
  child: number,
): { readonly node: BudgetNode; readonly charged: Spending } {
  const lost = node.children.find((one) => one.child === child);
  if (lost === undefined) return { node, charged: noSpending };
  const settled = settleChild(node, child, lose(lost), noSpending);
  return { node: leaveNode(settled, child), charged: lost.reserved };
}

export function setRest(node: BudgetNode, child: number, rests: boolean): BudgetNode {
  return changeChild(node, child, (one) => ({ ...one, rests }));
}

/**
 * @param now Unix epoch milliseconds. @returns null when more must be requested, or a child must return something, first.
 */
export function reserveFor(
  node: BudgetNode,
  child: number,
  needs: Spending,
  now: number,
): { readonly node: BudgetNode; readonly reservation: Reservation } | null {
  const free = node.requested === null ? freeOf(node, now) : null;
  if (free === null) return null;
  const atWork = node.children.filter(({ rests }) => !rests).length;
  const reservation = sizeReservation(free, needs, atWork, node.grant?.until ?? null);
  if (reservation === null) return null;
  return {
    node: changeChild(node, child, (one) => reserve({ ...one, reserved: noSpending }, reservation)),
    reservation,
  };
}

/** Takes a child's report of its totals. @param kept The part of its reservation that it still holds. */
export function settleChild(
  node: BudgetNode,
  child: number,
  told: ChildReport,
  kept: Spending,
): BudgetNode {
  const before = node.children.find((one) => one.child === child);
  if (before === undefined) return node;
  const after = settle(before, told, kept);
  const taken = mapSpending((measure) => after.spent[measure] - before.spent[measure]);
  const spent = spend(node, taken, after.worked_ms - before.worked_ms);
  return changeChild(spent, child, () => after);
}

/** Builds a request for more. The free rest of the grant goes back with it, as with any child. */
export function requestMore(
  node: BudgetNode,
  needs: Spending,
): { readonly node: BudgetNode; readonly request: BudgetNeeds } {
  const reserved = reservedIn(node);
  const requested = addSpending(node.spent_of_grant, reserved);
  const request = { needs, spent: node.spent, worked_ms: node.worked_ms };
  return {
    node: { ...node, grant: raise(node.grant, requested, noSpending), requested },
    request: isAny(reserved) ? { ...request, reserved } : request,
  };
}

/** @param reservation Null when no more is granted: then the children finish with what is reserved for them. */
export function takeMore(node: BudgetNode, reservation: Reservation | null): BudgetNode {
  const { requested } = node;
  if (requested === null) return node;
  if (reservation === null) return { ...node, requested: null };
  const added = mapSpending((measure) => reservation[measure] ?? 0);
  return { ...node, grant: raise(reservation, requested, added), requested: null };
}

/**
 * Takes back the reservation of a child that waits for the user. @returns `released`: the whole grant may go to others.
 */
export function releaseFor(
  node: BudgetNode,
  child: number,
): { readonly node: BudgetNode; readonly released: boolean } {
  const freed = changeChild(node, child, (one) => ({ ...one, reserved: noSpending }));
  const isAlone = node.children.every((one) => one.child === child || one.rests);
  if (!isAlone || isAny(reservedIn(freed)) || node.requested !== null)
    return { node: freed, released: false };
  return { node: release(freed), released: true };
}

/** Sets each limit of `grant` to the sum; a measure without a limit keeps none. */
function raise<G extends Reservation | null>(grant: G, base: Spending, added: Spending): G {
  if (grant === null) return grant;
  const sum = addSpending(base, added);
  return { ...grant, ...mapAllowance(grant, (_limit, measure) => sum[measure]) };
}

function isAny(spending: Spending): boolean {
  return measures.some((measure) => spending[measure] > 0);
}

function reservedIn({ children }: BudgetNode): Spending {
  return addSpending(...children.map(({ reserved }) => reserved));
}

/** @returns null when nothing is granted, or its time is over. */
function freeOf(node: BudgetNode, now: number): Allowance | null {
  const { grant } = node;
  if (grant === null || (grant.until !== null && now >= grant.until)) return null;
  const taken = chargeOf({ ...newChild, spent: node.spent_of_grant, reserved: reservedIn(node) });
  return mapAllowance(grant, (limit, measure) => limit - taken[measure]);
}

function changeChild(
  node: BudgetNode,
  child: number,
  to: (one: NodeChild) => NodeChild,
): BudgetNode {
  return { ...node, children: node.children.map((one) => (one.child === child ? to(one) : one)) };
}
