/** State of a wave's account; `step-account.ts` has its rules. */
import type { BudgetAccount, BudgetScope, Spending } from '../../contracts/budget.ts';

/** A spender: a delegation, or the planner of the wave. */
export interface Holder {
  readonly holder_id: string;
  readonly is_planner: boolean;
  /** `waiting`: for the user, without a lease. `ended`: what it spent is known. */
  readonly state: 'working' | 'waiting' | 'ended';
  /** Total of all leases, spent amounts included. */
  readonly granted: Spending;
  readonly spent: Spending;
  readonly worked_ms: number;
  /** Number of times its own limit was raised. */
  readonly top_ups: number;
  /** True when the user decided to finish with the available results. */
  readonly is_finished: boolean;
}

/** A request for a lease that has not been granted yet. */
export interface QueuedWish {
  readonly holder_id: string;
  readonly needs: Spending;
}

export interface AccountState extends BudgetAccount {
  readonly max_parallel: number;
  readonly holders: readonly Holder[];
  /** Oldest request first. */
  readonly queue: readonly QueuedWish[];
  /** Milliseconds of work in this wave so far. */
  readonly worked_ms: number;
  /** Unix epoch milliseconds of the last event. */
  readonly now: number;
  /** True while the run is paused or parked: its clock stands still. */
  readonly held: boolean;
  /** Limits about which the user was asked and has not answered: a scope, or a delegation's id. */
  readonly asked: readonly string[];
  readonly verdict: 'open' | 'finish_wave' | 'finish_run' | 'abandon';
}

/** A limit that stops a spender. */
export interface ReachedLimit {
  readonly scope: BudgetScope;
  /** Null unless the scope is `delegation`. */
  readonly delegation_id: string | null;
}
