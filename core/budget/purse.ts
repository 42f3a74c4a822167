/**
 * The lease of one spender, and what it has spent of it.
 *
 * Invariants:
 *   PU1. A call may take the rest of the lease, never more.
 *   PU2. Without a lease, without a call left in it, or after its time, nothing is allowed until a new lease arrives.
 *   PU3. Later requests ask for what the last refused call needed, so that it is refused only once.
 */
import type { Allowance, Lease, Spending } from '../../contracts/budget.ts';
import { addSpending, mapSpending, maxSpending, measures, noSpending } from './spending.ts';

export interface Purse {
  /** Null before the first lease, and after the lease was given back. */
  readonly lease: Lease | null;
  /** Spent since the lease was taken. */
  readonly spent_of_lease: Spending;
  /** Spent in total. */
  readonly spent: Spending;
  /** Milliseconds of work in total. */
  readonly worked_ms: number;
  /** Most that the next call may take, as far as it is known. */
  readonly needs: Spending;
}

/** One call of unknown size. */
const oneCall: Spending = { calls: 1, tokens: 0, cost_micro_usd: 0 };

export const emptyPurse: Purse = {
  lease: null,
  spent_of_lease: noSpending,
  spent: noSpending,
  worked_ms: 0,
  needs: oneCall,
};

export function takeLease(purse: Purse, lease: Lease): Purse {
  return { ...purse, lease, spent_of_lease: noSpending };
}

/** Gives the rest of the lease to others, because the holder now waits for the user. */
export function giveBack(purse: Purse): Purse {
  return { ...purse, lease: null, spent_of_lease: noSpending };
}

export function spend(purse: Purse, spending: Spending, workedMs: number): Purse {
  return {
    ...purse,
    spent_of_lease: addSpending(purse.spent_of_lease, spending),
    spent: addSpending(purse.spent, spending),
    worked_ms: purse.worked_ms + workedMs,
  };
}

/** Raises the needs after a call was refused because it may take this much. */
export function expectMore(purse: Purse, needs: Spending): Purse {
  return { ...purse, needs: maxSpending(oneCall, needs) };
}

/** @param now Unix epoch milliseconds. @returns null when another lease is needed first. */
export function allowanceOf(purse: Purse, now: number): Allowance | null {
  const { lease, spent_of_lease: spent, needs } = purse;
  if (lease === null || (lease.until !== null && now >= lease.until)) return null;
  const allowance: Allowance = {
    calls: left(lease.calls, spent.calls),
    tokens: left(lease.tokens, spent.tokens),
    cost_micro_usd: left(lease.cost_micro_usd, spent.cost_micro_usd),
  };
  const isEnough = measures.every((measure) => {
    const amount = allowance[measure];
    return amount === null || amount >= needs[measure];
  });
  return isEnough ? allowance : null;
}

/** Returns the rest of the lease: zero for a measure without a limit, and zero without a lease. */
export function leftInPurse({ lease, spent_of_lease: spent }: Purse): Spending {
  return mapSpending((measure) => Math.max(0, left(lease?.[measure] ?? null, spent[measure]) ?? 0));
}

function left(limit: number | null, taken: number): number | null {
  return limit === null ? null : limit - taken;
}

/** Compares the worst case of a call with the allowance. */
export function allows(allowance: Allowance, worst: Spending): boolean {
  return measures.every((measure) => {
    const amount = allowance[measure];
    return amount === null || worst[measure] <= amount;
  });
}
