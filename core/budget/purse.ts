/**
 * What one spender has in hand: its lease, and what it spent of it.
 *
 * Invariants:
 *   PU1. A call is allowed what is left of the lease, never more.
 *   PU2. Without a lease, without a call left in it, or after its time, nothing is allowed before another lease came.
 *   PU3. What the last refused call needed is asked for from then on, so that it is refused once.
 */
import type { Allowance, Lease, Spending } from '../../contracts/budget.ts';
import { addSpending, mapSpending, maxSpending, measures, noSpending } from './spending.ts';

export interface Purse {
  /** Null: none yet, or given back. */
  readonly lease: Lease | null;
  /** Of the lease. */
  readonly spent_of_lease: Spending;
  /** In all. */
  readonly spent: Spending;
  /** Milliseconds of work in all. */
  readonly worked_ms: number;
  /** What a call may take at worst, as far as it is known. */
  readonly needs: Spending;
}

/** A call, whatever it takes. */
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

/** Its holder waits for the user: others may have what is left. */
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

/** A call was refused because it may take this much. */
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

/** What is left of the lease; nothing of what has no limit, and nothing without a lease. */
export function leftInPurse({ lease, spent_of_lease: spent }: Purse): Spending {
  return mapSpending((measure) => Math.max(0, left(lease?.[measure] ?? null, spent[measure]) ?? 0));
}

function left(limit: number | null, taken: number): number | null {
  return limit === null ? null : limit - taken;
}

/** Whether a call that takes this at worst is allowed. */
export function allows(allowance: Allowance, worst: Spending): boolean {
  return measures.every((measure) => {
    const amount = allowance[measure];
    return amount === null || worst[measure] <= amount;
  });
}
