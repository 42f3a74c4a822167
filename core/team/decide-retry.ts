/**
 * Whether a task that failed is worth another attempt, and when (seed 002, phase 4; cases 8.1 and 8.2).
 *
 * Invariants:
 *   RT1. Never more than `max_retries` further attempts.
 *   RT2. Only what may end otherwise when it is done again: a reply of the model, not a refusal, a limit or the agent's own word.
 *   RT3. Nothing is done again after it tried to change something outside.
 *   RT4. Each wait is twice the one before, and an attempt that its time would cut off at once does not begin.
 *   RT5. Triads and teams are not done again: they decide themselves about what failed in them.
 */
import type { ExecutorKind } from '../../contracts/executor.ts';
import { isWorthRepeating } from '../turns/failure-reasons.ts';
import type { FailureReason } from '../turns/failure-reasons.ts';

/** Milliseconds. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number;
  /** Null: nobody knows. */
  readonly why: FailureReason | null;
  readonly kind: ExecutorKind;
  /** Whether the task tried to change something outside. */
  readonly has_acted: boolean;
  /** Milliseconds of work that the task has left. */
  readonly left_ms: number;
}

/** @returns milliseconds to wait before the next attempt; null when there is none. */
export function decideRetry(failed: FailedAttempt, maxRetries: number): number | null {
  const { attempt, why, kind, has_acted, left_ms } = failed;
  if (attempt > maxRetries || why === null || !isWorthRepeating(why)) return null;
  if (has_acted || kind !== 'agent') return null;
  const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
  return 2 * wait < left_ms ? wait : null;
}
