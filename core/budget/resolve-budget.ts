/**
 * Converts a typed budget to the measures that the engine counts.
 *
 * Invariants:
 *   RB1. A measure that was not typed has no limit; a budget without any limit is null.
 *   RB2. A wave that ends without a report has used at most the time that has passed, and no more than it had.
 *   RB3. The run keeps the top-ups of its own limit that were answered during such a wave, each once.
 */
import type {
  BudgetAccount,
  BudgetAmounts,
  BudgetInput,
  BudgetLimits,
  CarriedBudget,
  RunBudget,
} from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addSpending, spendingOf, topUp } from './spending.ts';

export const microUsdPerUsd = 1_000_000;
const msPerMinute = 60_000;

/** @returns null when nothing is limited. */
export function resolveBudget(input: BudgetInput | undefined): RunBudget | null {
  if (input === undefined) return null;
  const { wave = {}, delegation = {}, ...run } = input;
  const budget: RunBudget = {
    run: limitsOf(run),
    wave: limitsOf(wave),
    delegation: limitsOf(delegation),
  };
  const isLimited = Object.values(budget).some((limits) =>
    Object.values(limits).some((limit) => limit !== null),
  );
  return isLimited ? budget : null;
}

export function openBudget(budget: RunBudget | null): CarriedBudget | null {
  return budget === null ? null : { limits: budget, steps: budget, worked_ms: 0 };
}

/** Reserves for a wave the whole rest of the run's budget, because only one wave works at a time. */
export function reserveForWave(budget: CarriedBudget | null, usage: Usage): BudgetAccount | null {
  if (budget === null) return null;
  const { limits, steps, worked_ms } = budget;
  return { limits, steps, before: spendingOf(usage), before_worked_ms: worked_ms };
}

/** Adds what the run has spent and no wave has told of, as after a reset. */
export function chargeBefore(account: BudgetAccount | null, missed: Usage): BudgetAccount | null {
  if (account === null) return null;
  return { ...account, before: addSpending(account.before, spendingOf(missed)) };
}

/**
 * Returns the budget for the rest of the run after a wave that ended without a report.
 *
 * @param account What was reserved for it; null: nothing was limited.
 * @param passedMs Milliseconds from its start to its end.
 * @param topUps Number of times that the user raised the run's limit meanwhile.
 */
export function carryLostWave(
  account: BudgetAccount | null,
  passedMs: number,
  topUps = 0,
): CarriedBudget | null {
  if (account === null) return null;
  const { steps, before_worked_ms } = account;
  const limits = { ...account.limits, run: topUp(account.limits.run, steps.run, topUps) };
  const leftMs = Math.min(
    (limits.run.worked_ms ?? Infinity) - before_worked_ms,
    limits.wave.worked_ms ?? Infinity,
  );
  return {
    limits,
    steps,
    worked_ms: before_worked_ms + Math.max(0, Math.min(leftMs, passedMs)),
  };
}

/** Returns true when some scope limits money but not tokens. Such a limit holds only if prices are known. */
export function reliesOnPrices(budget: RunBudget): boolean {
  return Object.values(budget).some(
    ({ cost_micro_usd, tokens }) => cost_micro_usd !== null && tokens === null,
  );
}

/** Rounds down, so that a limit never exceeds what was typed. */
export function limitsOf({ usd, tokens, calls, minutes }: BudgetAmounts): BudgetLimits {
  return {
    calls: calls ?? null,
    tokens: tokens ?? null,
    cost_micro_usd: usd === undefined ? null : Math.floor(usd * microUsdPerUsd),
    worked_ms: minutes === undefined ? null : Math.floor(minutes * msPerMinute),
  };
}
