/**
 * Shares the budget of an evaluation among its cells.
 *
 * Invariants:
 *   EG1. What was spent and what running cells may still spend together never exceed the budget.
 *   EG2. A cell gets an equal share of what is left for all cells that have not started, so what one leaves is for the others.
 *   EG3. A cell is not started without room for a single call.
 *   EG4. Where models grade, a fifth of the share is theirs.
 *   EG5. A setting's own limit holds besides the share: the smaller counts.
 */
import type { Allowance, BudgetAmounts, Spending } from '../../contracts/budget.ts';
import type { EvaluationInput } from '../../contracts/evaluation.ts';
import { limitsOf as limitsOfAmounts, microUsdPerUsd } from '../budget/resolve-budget.ts';
import { mapAllowance, mapSpending } from '../budget/spending.ts';

/** Returns the limits of the whole evaluation; null without any. */
export function limitsOf({ budget }: Pick<EvaluationInput, 'budget'>): Allowance | null {
  return budget === undefined ? null : mapAllowance(limitsOfAmounts(budget), (amount) => amount);
}

export interface ShareTerms {
  /** Null without a limit. */
  readonly limits: Allowance | null;
  readonly spent: Spending;
  /** Shares of the cells at work. */
  readonly reserved: Spending;
  /** Cells that have not started, this one included. */
  readonly left: number;
}

/** Returns the share of a cell: null when there is too little left (EG3), `none` without a limit. */
export function shareOf({ limits, spent, reserved, left }: ShareTerms): Allowance | 'none' | null {
  if (limits === null) return 'none';
  const share = mapAllowance(limits, (limit, measure) =>
    Math.floor((limit - spent[measure] - reserved[measure]) / Math.max(1, left)),
  );
  const isEmpty = Object.values(share).some((amount) => amount !== null && amount < 1);
  return isEmpty ? null : share;
}

/** Returns a share as it is reserved: a measure without a limit counts nothing. */
export function toSpending(share: Allowance | 'none'): Spending {
  return mapSpending((measure) => (share === 'none' ? 0 : (share[measure] ?? 0)));
}

/** Returns the limit of a cell's run. @param share As `shareOf` returns it. @param graded True if models grade the cell. */
export function budgetOf(
  share: Allowance | 'none',
  own: BudgetAmounts | undefined,
  graded: boolean,
): BudgetAmounts | undefined {
  if (share === 'none') return own;
  const runs = mapAllowance(share, (amount) =>
    graded ? Math.max(1, Math.floor(amount * 0.8)) : amount,
  );
  const { calls, tokens, cost_micro_usd } = runs;
  const usd = cost_micro_usd === null ? null : cost_micro_usd / microUsdPerUsd;
  return {
    ...own,
    ...smaller('calls', calls, own),
    ...smaller('tokens', tokens, own),
    ...smaller('usd', usd, own),
  };
}

function smaller(
  name: 'calls' | 'tokens' | 'usd',
  share: number | null,
  own: BudgetAmounts | undefined,
): BudgetAmounts {
  return share === null ? {} : { [name]: Math.min(share, own?.[name] ?? share) };
}
