/** Words the question that the user is asked at a limit, and budgets in general. */
import type { BudgetLimits } from '../../contracts/budget.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { ownLimits, spentOf } from './account-terms.ts';
import type { AccountState, ReachedLimit, Spent } from './account-terms.ts';
import { chargeOf } from './reservations.ts';
import { mapLimits, noSpending } from './spending.ts';

export function budgetQuestion(state: AccountState, limit: ReachedLimit): AskedQuestion {
  const { scope, delegation_id } = limit;
  const whose = delegation_id === null ? `the ${scope}` : `delegation ${delegation_id}`;
  const finish = {
    run: 'finish: end the run with what there is.',
    wave: 'finish: end the wave with what there is, and let the planner decide on it.',
    delegation: 'finish: end this delegation as failed; the others go on.',
  }[scope];
  return {
    text: `${describeReached(state, limit, whose)} What now?`,
    why_it_matters: `top_up: as much again (${describeLimits(state.steps[scope])}). ${finish} abandon: end the run without a result.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['top_up', 'finish', 'abandon'],
    default_answer: 'finish',
  };
}

/** Says that a limit is reached, or that what is left may not hold the next call: its worst case is reserved first. */
function describeReached(state: AccountState, limit: ReachedLimit, whose: string): string {
  const { spent, limits } = compare(state, limit);
  const soFar = describeAgainst(spent, limits);
  const isSpent = units.some(({ measure }) => spent[measure] >= (limits[measure] ?? Infinity));
  const needs = state.queue.find(({ child_id }) => isOfScope(child_id, limit))?.needs;
  if (isSpent || needs === undefined) return `The budget of ${whose} is spent: ${soFar}.`;
  const worst = mapLimits({ ...limits, worked_ms: null }, (most, measure) =>
    measure === 'worked_ms' ? most : needs[measure],
  );
  return `The budget of ${whose} may not hold the next call, which can take up to ${describeLimits(worst)}: so far ${soFar}.`;
}

function isOfScope(childId: string, { delegation_id }: ReachedLimit): boolean {
  return delegation_id === null || delegation_id === childId;
}

function compare(
  state: AccountState,
  { scope, delegation_id }: ReachedLimit,
): { readonly spent: Spent; readonly limits: BudgetLimits } {
  if (scope !== 'delegation') return { spent: spentOf(state, scope), limits: state.limits[scope] };
  const child = state.children.find((one) => one.child_id === delegation_id);
  if (child === undefined) {
    return { spent: { ...noSpending, worked_ms: 0 }, limits: state.limits.delegation };
  }
  return {
    spent: { ...chargeOf(child), worked_ms: child.worked_ms },
    limits: ownLimits(state, child),
  };
}

/** Lists the limited measures against their limits. Empty when nothing is limited. */
export function describeAgainst(spent: Spent, limits: BudgetLimits): string {
  return units
    .flatMap(({ measure, unit, format }) => {
      const limit = limits[measure];
      return limit === null ? [] : [`${format(spent[measure])} of ${format(limit)} ${unit}`];
    })
    .join(', ');
}

/** Returns text such as `2 US$, 20 calls`. */
function describeLimits(limits: BudgetLimits): string {
  return units
    .flatMap(({ measure, unit, format }) => {
      const limit = limits[measure];
      return limit === null ? [] : [`${format(limit)} ${unit}`];
    })
    .join(', ');
}

/** The measures in display order. */
const units: readonly {
  readonly measure: keyof BudgetLimits;
  readonly unit: string;
  readonly format: (amount: number) => string;
}[] = [
  { measure: 'cost_micro_usd', unit: 'US$', format: formatUsd },
  { measure: 'tokens', unit: 'tokens', format: String },
  { measure: 'calls', unit: 'calls', format: String },
  { measure: 'worked_ms', unit: 'minutes', format: formatMinutes },
];

function formatUsd(microUsd: number): string {
  return String(Math.round(microUsd / 100) / 10_000);
}

function formatMinutes(ms: number): string {
  return String(Math.round(ms / 6_000) / 10);
}
