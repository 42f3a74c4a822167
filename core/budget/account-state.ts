/** What an account of a wave knows. See `step-account.ts`. */
import type { BudgetAccount, BudgetScope, Spending } from '../../contracts/budget.ts';

/** Who spends: a delegation, or the planner of the wave. */
export interface Holder {
  readonly holder_id: string;
  readonly is_planner: boolean;
  /** `waiting`: for the user, without a lease. `ended`: what it spent is known. */
  readonly state: 'working' | 'waiting' | 'ended';
  /** Lent in all, what is spent included. */
  readonly granted: Spending;
  readonly spent: Spending;
  readonly worked_ms: number;
  /** How often its own limit was raised. */
  readonly top_ups: number;
  /** The user told it to finish with what it has. */
  readonly is_finished: boolean;
}

/** A lease that somebody waits for. */
export interface QueuedWish {
  readonly holder_id: string;
  readonly needs: Spending;
}

export interface AccountState extends BudgetAccount {
  readonly max_parallel: number;
  readonly holders: readonly Holder[];
  /** In the order of asking. */
  readonly queue: readonly QueuedWish[];
  /** Of the wave so far. */
  readonly worked_ms: number;
  /** Unix epoch milliseconds of the last event. */
  readonly now: number;
  /** Whether the clock stands, because the run is paused or parked. */
  readonly held: boolean;
  /** Limits about which the user was asked and has not answered: a scope, or a delegation's id. */
  readonly asked: readonly string[];
  readonly verdict: 'open' | 'finish_wave' | 'finish_run' | 'abandon';
}

/** A limit that was reached. */
export interface ReachedLimit {
  readonly scope: BudgetScope;
  /** Null unless the scope is `delegation`. */
  readonly delegation_id: string | null;
}
