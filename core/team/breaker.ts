/**
 * The circuit breaker of a member: who fails again and again gets no tasks for a while. Times are milliseconds of work.
 *
 * Invariants:
 *   BR1. It opens at `breakerFailuresMax` failures in a row, and never before.
 *   BR2. An open one lets nothing through until its rest is over; then one task at a time, as a trial.
 *   BR3. A trial that fails opens it for twice as long; any success closes it as if nothing had been. What began before its
 *        rest was over is no trial, however late it fails: it makes no rest longer.
 *   BR4. It has opened when it is open and was not: a task that fails while it is open opens nothing.
 */
import { engineLimits } from '../limits.ts';

export interface Breaker {
  /** In a row. */
  readonly failures: number;
  /** When it lets a trial through; null while it is closed. */
  readonly open_until_ms: number | null;
  /** Of the rest that it takes next. */
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

/** @param at_work Tasks of the member that are under way. */
export function mayPass(breaker: Breaker, nowMs: number, at_work: number): boolean {
  const state = readBreaker(breaker, nowMs);
  return state === 'closed' || (state === 'trial' && at_work === 0);
}

export function noteSuccess(firstRestMs: number): Breaker {
  return closedBreaker(firstRestMs);
}

/** @param beganMs When the task began that failed. */
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

/** Whether it lets nothing through any more that was let through before. */
export function hasOpened(before: Breaker, after: Breaker, nowMs: number): boolean {
  return readBreaker(before, nowMs) !== 'open' && readBreaker(after, nowMs) === 'open';
}
