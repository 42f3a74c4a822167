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
import type { Allowance, Reservation, Spending } from '../../contracts/budget.ts';
import { addSpending, mapAllowance, mapSpending, measures, noSpending } from './spending.ts';

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
