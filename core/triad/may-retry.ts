/**
 * Whether a phase that failed is worth another attempt, which resumes at the failed turn.
 *
 * Invariants:
 *   PA1. Never more than `phaseAttemptsMax` attempts at one phase.
 *   PA2. Only what may end otherwise when the same turn is taken again: a reply of the model, or time.
 *   PA3. Nothing is tried again while nobody knows what a call has changed outside.
 */
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-claimed-effects.ts';
import { isWorthRepeating } from '../turns/failure-reasons.ts';
import type { FailureReason } from '../turns/failure-reasons.ts';

/** @param attempt The one that failed, from 1. */
export function mayRetry(
  why: FailureReason,
  attempt: number,
  effects: readonly KnownEffect[],
): boolean {
  const isUnclear = effects.some(({ state }) => state === 'unverified' || state === 'intended');
  const isWorthwhile = why === 'timed_out' || isWorthRepeating(why);
  return attempt < engineLimits.phaseAttemptsMax && isWorthwhile && !isUnclear;
}
