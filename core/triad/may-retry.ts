/**
 * Decides whether a failed phase gets another attempt, which resumes at the failed turn.
 *
 * Invariants:
 *   PA1. A phase gets at most `phaseAttemptsMax` attempts.
 *   PA2. Only a failure that may not recur in the same turn is retried: of the model's reply, or of time.
 *   PA3. Nothing is retried while the result of a call that may have changed something outside is unknown.
 */
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';
import { isWorthRepeating } from '../turns/failure-reasons.ts';
import type { FailureReason } from '../turns/failure-reasons.ts';

/** @param attempt Number of the failed attempt, from 1. */
export function mayRetry(
  why: FailureReason,
  attempt: number,
  effects: readonly KnownEffect[],
): boolean {
  const isUnclear = effects.some(({ state }) => state === 'unverified' || state === 'intended');
  const isWorthwhile = why === 'timed_out' || isWorthRepeating(why);
  return attempt < engineLimits.phaseAttemptsMax && isWorthwhile && !isUnclear;
}
