/**
 * Decides whether a failed task gets another attempt, and when (seed 002, phase 4; cases 8.1 and 8.2).
 *
 * Invariants:
 *   RT1. A task gets at most `max_retries` further attempts.
 *   RT2. Only a failure that may not recur is retried: of the model's reply, not a refusal, a limit or the agent's own
 *        report.
 *   RT3. A task that tried to change something outside is not retried.
 *   RT4. Each wait is twice the one before, and an attempt that the time limit would cut off at once does not begin.
 *   RT5. Triads and teams are not retried: they handle their own failures.
 */
import type { ExecutorKind } from '../../contracts/executor.ts';
import { isWorthRepeating } from '../turns/failure-reasons.ts';
import type { FailureReason } from '../turns/failure-reasons.ts';

/** Milliseconds. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

export interface FailedAttempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Null when unknown. */
  readonly why: FailureReason | null;
  readonly kind: ExecutorKind;
  /** Whether the task tried to change something outside. */
  readonly has_acted: boolean;
  /** Remaining milliseconds of work of the task. */
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
