import type { Allowance, LeaseReply, LeaseWish, Spending } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';
import { allowanceOf, expectMore, giveBack, spend, takeLease } from '../../core/budget/purse.ts';
import type { Purse } from '../../core/budget/purse.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';

/** Permission for the next call; a null allowance means no limit. */
export type Allowed =
  | { readonly type: 'allowed'; readonly allowance: Allowance | null }
  | { readonly type: 'denied'; readonly reason: string };

/** Source of a conversation's budget. */
export interface Funds {
  /** Resolves when the next call may be made, or is denied for good. */
  allow(): Promise<Allowed>;
  /** Raises the needs after a call was refused because it may take this much. */
  expectMore(needs: Spending): void;
  /** @param workedMs Milliseconds that the call took. */
  spend(usage: Usage, workedMs: number): void;
  /**
   * Gives the rest of the lease to others while this spender waits for the user. @returns the spent amount; undefined
   * without a budget.
   */
  giveBack(): Spending | undefined;
  /** Returns the state for continue-as-new, or for members that spend in its place; null without a budget. */
  carry(): Purse | null;
  /** Takes back the state from `carry`, after others have spent from it. */
  takeBack(purse: Purse | null): void;
  /** Gets a lease for members that spend in its place. */
  lend(wish: LeaseWish): Promise<LeaseReply>;
  /** Reports that members have given back the rest. @returns like `giveBack`. */
  release(spent: Spending): Spending | undefined;
}

/** Used when another waiter for the same id took the reply. */
export const unanswered: LeaseReply = { lease: null, reason: 'nobody answered' };

/** Funds of a spender without a budget. */
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
 * @param ask Asks the owner of the account.
 * @param onGivenBack Reports that the rest is free; if undefined, the caller of `giveBack` does.
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
