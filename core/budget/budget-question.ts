/** Words the question that the user is asked at a limit, and budgets in general. */
import type { BudgetLimits } from '../../contracts/budget.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { AccountState, ReachedLimit } from './account-state.ts';
import { chargeOf, ownLimits, spentOf } from './account-terms.ts';
import type { Spent } from './account-terms.ts';

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

/** Returns text such as `1.9 of 2 US$, 12 of 20 calls`. */
function describeSpent(state: AccountState, { scope, delegation_id }: ReachedLimit): string {
  if (scope === 'delegation') {
    const holder = state.holders.find((one) => one.holder_id === delegation_id);
    if (holder === undefined) return '';
    const { worked_ms } = holder;
    return describeAgainst({ ...chargeOf(holder), worked_ms }, ownLimits(state, holder));
  }
  return describeAgainst(spentOf(state, scope), state.limits[scope]);
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
