/**
 * Use of model calls in the measures of a budget.
 *
 * Invariants:
 *   SP1. Tokens include every kind of input and the output; money includes the known costs only.
 *   SP2. Amounts that may have been billed without a report count as spent.
 *   SP3. What is charged late brings what is known up to what was spent, in every measure, and not past it.
 */
import type { Allowance, BudgetLimits, Spending, Reservation } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';
import { subtractUsage } from '../usage/add-usage.ts';

/** Measures that are reserved before a call and settled after it. */
export const measures = ['calls', 'tokens', 'cost_micro_usd'] as const;
type Measure = (typeof measures)[number];

export const noSpending: Spending = { calls: 0, tokens: 0, cost_micro_usd: 0 };

export const noLimits: BudgetLimits = {
  calls: null,
  tokens: null,
  cost_micro_usd: null,
  worked_ms: null,
};

/** Fields of a usage that count towards each measure, those of reports first. */
const usageFields = {
  calls: ['calls', 'unreported_calls'],
  tokens: [
    'input_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'output_tokens',
    'unreported_tokens',
  ],
  cost_micro_usd: ['cost_micro_usd', 'unreported_cost_micro_usd'],
} as const satisfies Record<Measure, readonly (keyof Usage)[]>;

export function spendingOf(usage: Usage): Spending {
  return mapSpending((measure) => {
    const fields: readonly (keyof Usage)[] = usageFields[measure];
    return fields.reduce((sum, field) => sum + usage[field], 0);
  });
}

/**
 * Returns what was spent and is not known. A call may be known at its worst case, because its report was late, and be among
 * the reports by now: it is not charged again.
 */
export function computeMissed(spent: Usage, known: Usage): Usage {
  const missed = { ...subtractUsage(spent, known) };
  const [all, charged, added] = [spendingOf(spent), spendingOf(known), spendingOf(missed)];
  for (const measure of measures) {
    let excess = added[measure] - Math.max(0, all[measure] - charged[measure]);
    for (const field of usageFields[measure]) {
      const taken = Math.min(excess, missed[field]);
      missed[field] -= taken;
      excess -= taken;
    }
  }
  return missed;
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

/** Adds the steps of top-ups to limits. A measure without a limit keeps none. */
export function topUp(limits: BudgetLimits, step: BudgetLimits, times = 1): BudgetLimits {
  return mapLimits(limits, (limit, measure) => limit + times * (step[measure] ?? 0));
}

/**
 * The children of a budget: what each has spent, and what is reserved for it. The account of a wave reserves for its
 * delegations as a delegation does for its members.
 *
 * Invariants:
 *   RS1. A child is charged what it has spent and what is reserved for it; a child that is lost, all of it.
 *   RS2. A reservation holds what the next call needs, and no more than is free.
 *   RS3. While much is free, a reservation is a share of it, so that few messages are needed and others can work at the
 *        same time; near the limit it is exact.
 *   RS4. A measure without a limit is reserved without one.
 */

export interface BudgetChild {
  /** Reserved, and not reported as spent. */
  readonly reserved: Spending;
  /** Total that it has reported. */
  readonly spent: Spending;
  /** Milliseconds of work in total, as reported. */
  readonly worked_ms: number;
}

export type ChildReport = Pick<BudgetChild, 'spent' | 'worked_ms'>;

export const newChild: BudgetChild = { reserved: noSpending, spent: noSpending, worked_ms: 0 };

/** Takes a child's report of its totals, which only grow. @param kept The part of its reservation that it still holds. */
export function settle<C extends BudgetChild>(child: C, told: ChildReport, kept: Spending): C {
  return {
    ...child,
    reserved: kept,
    spent: mapSpending((measure) => Math.max(child.spent[measure], told.spent[measure])),
    worked_ms: Math.max(child.worked_ms, told.worked_ms),
  };
}

/** Charges a child that reports nothing more all that is reserved for it. */
export function lose<C extends BudgetChild>(child: C): C {
  return { ...child, reserved: noSpending, spent: chargeOf(child) };
}

export function reserve<C extends BudgetChild>(child: C, reservation: Reservation): C {
  const added = mapSpending((measure) => reservation[measure] ?? 0);
  return { ...child, reserved: addSpending(child.reserved, added) };
}

export function chargeOf({ spent, reserved }: BudgetChild): Spending {
  return addSpending(spent, reserved);
}

/** Returns true when every limited measure has room. */
export function fits(needs: Spending, free: Allowance): boolean {
  return measures.every((measure) => {
    const amount = free[measure];
    return amount === null || needs[measure] <= amount;
  });
}

/** @param sharers Number of children that may work at the same time. @returns null when the needs do not fit. */
export function sizeReservation(
  free: Allowance,
  needs: Spending,
  sharers: number,
  until: number | null,
): Reservation | null {
  if (!fits(needs, free)) return null;
  const share = (amount: number): number => Math.floor(amount / (2 * Math.max(1, sharers)));
  return {
    ...mapAllowance(free, (amount, measure) => Math.max(needs[measure], share(amount))),
    until,
  };
}
