/**
 * Use of model calls in the measures of a budget.
 *
 * Invariants:
 *   SP1. Tokens include every kind of input and the output; money includes the known costs only.
 *   SP2. Amounts that may have been billed without a report count as spent.
 */
import type { Allowance, BudgetLimits, Spending } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';

/** Measures that are reserved before a call and settled after it. */
export const measures = ['calls', 'tokens', 'cost_micro_usd'] as const;
export type Measure = (typeof measures)[number];

export const noSpending: Spending = { calls: 0, tokens: 0, cost_micro_usd: 0 };

export const noLimits: BudgetLimits = {
  calls: null,
  tokens: null,
  cost_micro_usd: null,
  worked_ms: null,
};

export function spendingOf(usage: Usage): Spending {
  return {
    calls: usage.calls + usage.unreported_calls,
    tokens:
      usage.input_tokens +
      usage.cache_creation_input_tokens +
      usage.cache_read_input_tokens +
      usage.output_tokens +
      usage.unreported_tokens,
    cost_micro_usd: usage.cost_micro_usd + usage.unreported_cost_micro_usd,
  };
}

export function mapSpending(compute: (measure: Measure) => number): Spending {
  return {
    calls: compute('calls'),
    tokens: compute('tokens'),
    cost_micro_usd: compute('cost_micro_usd'),
  };
}

export function addSpending(...all: readonly Spending[]): Spending {
  return mapSpending((measure) => all.reduce((sum, one) => sum + one[measure], 0));
}

/** Returns the larger amount of each measure. */
export function maxSpending(a: Spending, b: Spending): Spending {
  return mapSpending((measure) => Math.max(a[measure], b[measure]));
}

/** Computes each amount anew; a measure without a limit keeps none. */
export function mapAllowance(
  allowance: Allowance,
  compute: (amount: number, measure: Measure) => number,
): Allowance {
  const map = (measure: Measure): number | null => {
    const amount = allowance[measure];
    return amount === null ? null : compute(amount, measure);
  };
  return { calls: map('calls'), tokens: map('tokens'), cost_micro_usd: map('cost_micro_usd') };
}

/** Computes each limit anew; a measure without a limit keeps none. */
export function mapLimits(
  limits: BudgetLimits,
  compute: (limit: number, measure: keyof BudgetLimits) => number,
): BudgetLimits {
  const { worked_ms } = limits;
  return {
    ...mapAllowance(limits, compute),
    worked_ms: worked_ms === null ? null : compute(worked_ms, 'worked_ms'),
  };
}
