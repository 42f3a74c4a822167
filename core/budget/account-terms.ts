/**
 * The remaining budget of an account, and the size of the next lease.
 *
 * Invariants:
 *   AT1. A lease holds what the next call needs, and no more than is free in every scope.
 *   AT2. While much is left, a lease is a share of it, so that few messages are needed; near the limit it is exact.
 *   AT3. A measure without a limit is lent without one.
 */
import type { BudgetLimits, BudgetScope, Lease, Spending } from '../../contracts/budget.ts';
import { addSpending, mapLimits, maxSpending, measures } from './spending.ts';
import type { Measure } from './spending.ts';
import type { AccountState, Holder, QueuedWish } from './account-state.ts';

/** Spent, with the milliseconds of work. */
export type Spent = Spending & { readonly worked_ms: number };

/** Remaining amounts of one scope. Null: no limit. */
export type Left = BudgetLimits;

/**
 * Returns what a holder is charged. While it works, its lease counts as spent, because the holder reports only later.
 */
export function chargeOf(holder: Holder): Spending {
  return holder.state === 'working' ? maxSpending(holder.granted, holder.spent) : holder.spent;
}

/** Sums what the holders are charged, and for the run also what earlier waves spent. */
export function spentOf(state: AccountState, scope: 'run' | 'wave'): Spent {
  const isRun = scope === 'run';
  const spent = addSpending(...state.holders.map(chargeOf), ...(isRun ? [state.before] : []));
  return { ...spent, worked_ms: state.worked_ms + (isRun ? state.before_worked_ms : 0) };
}

export function leftOf(state: AccountState, scope: 'run' | 'wave'): Left {
  return subtract(state.limits[scope], spentOf(state, scope));
}

/** Returns the rest of a delegation's own limit, or null for the planner, which has none. */
export function ownLeft(state: AccountState, holder: Holder): Left | null {
  if (holder.is_planner) return null;
  const { worked_ms } = holder;
  return subtract(ownLimits(state, holder), { ...chargeOf(holder), worked_ms });
}

/** Multiplies a delegation's limits by its top-ups. */
export function ownLimits(state: AccountState, { top_ups }: Holder): BudgetLimits {
  return mapLimits(state.limits.delegation, (limit) => limit * (1 + top_ups));
}

function subtract(limits: BudgetLimits, taken: Spent): Left {
  return mapLimits(limits, (limit, measure) => limit - taken[measure]);
}

/** Compares a request with what is left. Time is not reserved: a call may begin while any is left. */
export function fits(needs: Spending, left: Left): boolean {
  if (left.worked_ms !== null && left.worked_ms <= 0) return false;
  return measures.every((measure) => {
    const free = left[measure];
    return free === null || needs[measure] <= free;
  });
}

/** @returns the scope whose limit the request exceeds, or null when it fits everywhere. */
export function findBinding(
  state: AccountState,
  holder: Holder,
  { needs }: QueuedWish,
): BudgetScope | null {
  const own = ownLeft(state, holder);
  if (own !== null && !fits(needs, own)) return 'delegation';
  if (!fits(needs, leftOf(state, 'run'))) return 'run';
  // The planner still decides on a wave that the user told to finish.
  const isExempt = holder.is_planner && state.verdict === 'finish_wave';
  return isExempt || fits(needs, leftOf(state, 'wave')) ? null : 'wave';
}

/** Sizes the lease for a request that fits. */
export function cutLease(
  state: AccountState,
  holder: Holder,
  { needs }: QueuedWish,
  now: number,
): Lease {
  const scopes = [leftOf(state, 'run'), leftOf(state, 'wave'), ownLeft(state, holder)].filter(
    (left) => left !== null,
  );
  const amount = (measure: Measure): number | null => {
    const free = smallest(scopes.map((left) => left[measure]));
    if (free === null) return null;
    const share = Math.floor(free / (2 * state.max_parallel));
    return Math.max(needs[measure], share);
  };
  const time = smallest(scopes.map((left) => left.worked_ms));
  return {
    calls: amount('calls'),
    tokens: amount('tokens'),
    cost_micro_usd: amount('cost_micro_usd'),
    until: time === null ? null : now + time,
  };
}

function smallest(amounts: readonly (number | null)[]): number | null {
  const limited = amounts.filter((amount) => amount !== null);
  return limited.length === 0 ? null : Math.min(...limited);
}
