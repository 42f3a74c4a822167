/**
 * The question at a limit, and budgets in words.
 */
import type { BudgetLimits, Spending } from '../../contracts/budget.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { AccountState, ReachedLimit } from './account-state.ts';
import { chargeOf } from './account-terms.ts';
import { addSpending, noSpending } from './spending.ts';

export function budgetQuestion(state: AccountState, limit: ReachedLimit): AskedQuestion {
  const { scope, delegation_id } = limit;
  const whose = delegation_id === null ? `the ${scope}` : `delegation ${delegation_id}`;
  const finish = {
    run: 'finish: end the run with what there is.',
    wave: 'finish: end the wave with what there is, and let the planner decide on it.',
    delegation: 'finish: end this delegation as failed; the others go on.',
  }[scope];
  return {
    text: `The budget of ${whose} is spent: ${describeSpent(state, limit)}. What now?`,
    why_it_matters: `top_up: as much again (${describeLimits(state.steps[scope])}). ${finish} abandon: end the run without a result.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['top_up', 'finish', 'abandon'],
    default_answer: 'finish',
  };
}

/** `1.9 of 2 US$, 12 of 20 calls`. */
export function describeSpent(state: AccountState, { scope, delegation_id }: ReachedLimit): string {
  const limits = scope === 'delegation' ? ownLimits(state, delegation_id) : state.limits[scope];
  const concerned = state.holders.filter(
    ({ holder_id }) => scope !== 'delegation' || holder_id === delegation_id,
  );
  const before = scope === 'run' ? state.before : noSpending;
  const spent = addSpending(before, ...concerned.map(chargeOf));
  const worked =
    scope === 'delegation'
      ? (concerned[0]?.worked_ms ?? 0)
      : state.worked_ms + (scope === 'run' ? state.before_worked_ms : 0);
  return describeAgainst(spent, worked, limits);
}

function ownLimits(state: AccountState, holderId: string | null): BudgetLimits {
  const times = 1 + (state.holders.find((one) => one.holder_id === holderId)?.top_ups ?? 0);
  const { calls, tokens, cost_micro_usd, worked_ms } = state.limits.delegation;
  const raised = (limit: number | null): number | null => (limit === null ? null : limit * times);
  return {
    calls: raised(calls),
    tokens: raised(tokens),
    cost_micro_usd: raised(cost_micro_usd),
    worked_ms: raised(worked_ms),
  };
}

/** What is limited, against its limits. Empty when nothing is. */
export function describeAgainst(spent: Spending, workedMs: number, limits: BudgetLimits): string {
  const { calls, tokens, cost_micro_usd: cost, worked_ms: worked } = limits;
  return [
    ...(cost === null ? [] : [`${formatUsd(spent.cost_micro_usd)} of ${formatUsd(cost)} US$`]),
    ...(tokens === null ? [] : [`${spent.tokens} of ${tokens} tokens`]),
    ...(calls === null ? [] : [`${spent.calls} of ${calls} calls`]),
    ...(worked === null ? [] : [`${formatMinutes(workedMs)} of ${formatMinutes(worked)} minutes`]),
  ].join(', ');
}

/** `2 US$, 20 calls`. */
export function describeLimits(limits: BudgetLimits): string {
  const { calls, tokens, cost_micro_usd: cost, worked_ms: worked } = limits;
  return [
    ...(cost === null ? [] : [`${formatUsd(cost)} US$`]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(calls === null ? [] : [`${calls} calls`]),
    ...(worked === null ? [] : [`${formatMinutes(worked)} minutes`]),
  ].join(', ');
}

function formatUsd(microUsd: number): string {
  return String(Math.round(microUsd / 100) / 10_000);
}

function formatMinutes(ms: number): string {
  return String(Math.round(ms / 6_000) / 10);
}
