import type { Allowance, LeaseReply, LeaseWish, Spending } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';
import { allowanceOf, expectMore, giveBack, spend, takeLease } from '../../core/budget/purse.ts';
import type { Purse } from '../../core/budget/purse.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';

/** What the next call may take; null: it has no limit. */
export type Allowed =
  | { readonly type: 'allowed'; readonly allowance: Allowance | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Where a conversation gets what it may spend. */
export interface Funds {
  /** Resolves when the next call may be made, or never will be. */
  allow(): Promise<Allowed>;
  /** A call was refused because it may take this much. */
  expectMore(needs: Spending): void;
  /** @param workedMs milliseconds that the call took. */
  spend(usage: Usage, workedMs: number): void;
  /** Others may have what is left while this one waits for the user. @returns what was spent; undefined without a budget. */
  giveBack(): Spending | undefined;
  /** For continue-as-new, and for who spends in its stead; null without a budget. */
  carry(): Purse | null;
  /** Takes back what `carry` gave, when somebody else has spent of it. */
  takeBack(purse: Purse | null): void;
  /** Gets a lease for who spends in its stead. */
  lend(wish: LeaseWish): Promise<LeaseReply>;
  /** Who spends in its stead has given back what was left. @returns as `giveBack`. */
  release(spent: Spending): Spending | undefined;
}

/** To a wish whose answer somebody else took, by imitating it. */
export const unanswered: LeaseReply = { lease: null, reason: 'nobody answered' };

/** Of who has no budget. */
export const unlimitedFunds: Funds = {
  allow: () => Promise.resolve({ type: 'allowed', allowance: null }),
  expectMore: () => {},
  spend: () => {},
  giveBack: () => undefined,
  carry: () => null,
  takeBack: () => {},
  lend: () => Promise.resolve({ lease: null, reason: 'nothing is limited' }),
  release: () => undefined,
};

/**
 * @param ask Asks whoever keeps the account.
 * @param onGivenBack Tells it that the rest is free; if undefined, the caller of `giveBack` does.
 */
export function createFunds(
  initial: Purse,
  ask: (wish: LeaseWish) => Promise<LeaseReply>,
  onGivenBack?: (spent: Spending) => void,
): Funds {
  let purse = initial;
  return {
    async allow() {
      for (;;) {
        const allowance = allowanceOf(purse, nowMs());
        if (allowance !== null) return { type: 'allowed', allowance };
        const { needs, spent, worked_ms } = purse;
        const { lease, reason } = await ask({ needs, spent, worked_ms });
        if (lease === null) return { type: 'denied', reason };
        purse = takeLease(purse, lease);
      }
    },
    expectMore(needs) {
      purse = expectMore(purse, needs);
    },
    spend(usage, workedMs) {
      purse = spend(purse, spendingOf(usage), workedMs);
    },
    giveBack() {
      purse = giveBack(purse);
      onGivenBack?.(purse.spent);
      return purse.spent;
    },
    carry: () => purse,
    takeBack(carried) {
      if (carried !== null) purse = carried;
    },
    lend: ask,
    release(spent) {
      onGivenBack?.(spent);
      return spent;
    },
  };
}
