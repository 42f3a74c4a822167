/**
 * The circuit breaker of a member: after repeated failures it gets no tasks for a while. Times are milliseconds of
 * work.
 *
 * Invariants:
 *   BR1. It opens at `breakerFailuresMax` consecutive failures, never before.
 *   BR2. While open it blocks every task until its rest is over; then it allows one task at a time, as a trial.
 *   BR3. A failed trial opens it for twice as long; any success resets it. A task that began before the rest was over
 *        is no trial: its late failure does not extend a rest.
 *   BR4. It has opened when it is open and was not before: a failure while it is open opens nothing.
 */
import { engineLimits } from '../limits.ts';

export interface Breaker {
  /** Number of consecutive failures. */
  readonly failures: number;
  /** Time from which it allows a trial; null while it is closed. */
  readonly open_until_ms: number | null;
  /** Length of its next rest. */
  readonly rest_ms: number;
}

/** @param restMs Milliseconds of its first rest. */
export function closedBreaker(restMs: number): Breaker {
  return { failures: 0, open_until_ms: null, rest_ms: restMs };
}

export type BreakerState = 'closed' | 'open' | 'trial';

export function readBreaker({ open_until_ms }: Breaker, nowMs: number): BreakerState {
  if (open_until_ms === null) return 'closed';
  return nowMs < open_until_ms ? 'open' : 'trial';
}

/** @param at_work Number of the member's running tasks. */
export function mayPass(breaker: Breaker, nowMs: number, at_work: number): boolean {
  const state = readBreaker(breaker, nowMs);
  return state === 'closed' || (state === 'trial' && at_work === 0);
}

export function noteSuccess(firstRestMs: number): Breaker {
  return closedBreaker(firstRestMs);
}

/** @param beganMs Start of the task that failed. */
export function noteFailure(breaker: Breaker, beganMs: number, nowMs: number): Breaker {
  const failures = breaker.failures + 1;
  const isEarly = failures < engineLimits.breakerFailuresMax;
  if (isEarly || readBreaker(breaker, beganMs) === 'open') return { ...breaker, failures };
  return {
    failures,
    open_until_ms: nowMs + breaker.rest_ms,
    rest_ms: breaker.rest_ms * 2,
  };
}

/** Returns true when it was not open before and is open now. */
export function hasOpened(before: Breaker, after: Breaker, nowMs: number): boolean {
  return readBreaker(before, nowMs) !== 'open' && readBreaker(after, nowMs) === 'open';
}
