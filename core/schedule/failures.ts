/**
 * Decides what follows from failures: another attempt, a rest for the member that fails again and again (its circuit
 * breaker), or the end of the rest, when siblings fail for the same reason. Times are milliseconds of work.
 *
 * Invariants:
 *   RT1. A job gets at most `max_retries` further attempts.
 *   RT2. Only a failure that may not recur is retried: of the model's reply, not a refusal, a limit or the agent's own
 *        report.
 *   RT3. A job that tried to change something outside is not retried.
 *   RT4. Each wait is twice the one before, and an attempt that the time limit would cut off at once does not begin.
 *   RT5. Triads and teams are not retried: they handle their own failures.
 *   CR1. An agent's work on a task of a designed plan that breaks off without an outcome begins anew, until
 *        `crashAttemptsMax` attempts did; then the task has failed, and its reason counts them.
 *   BR1. A breaker opens at `breakerFailuresMax` consecutive failures, never before.
 *   BR2. While open it blocks every task until its rest is over; then it allows one task at a time, as a trial.
 *   BR3. A failed trial opens it for twice as long; any success resets it; a stopped task changes nothing. A task that
 *        began before the rest was over is no trial: its late failure does not extend a rest.
 *   BR4. It has opened when it is open and was not before: a failure while it is open opens nothing.
 *   RF1. Only failures repeat each other, and only those that say the same but for numbers and the job's own name.
 */
import type { TaskStatus } from '../../contracts/team-run.ts';
import { engineLimits } from '../limits.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { isWorthRepeating } from '../turns/turns-state.ts';
import type { FailureReason } from '../turns/turns-state.ts';
import type { ExecutorKind } from '../../contracts/delegation.ts';

/** Milliseconds. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

export interface FailedAttempt {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Null when unknown. */
  readonly why: FailureReason | null;
  readonly kind: ExecutorKind;
  /** True when the task tried to change something outside. */
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

/** Broken off work on a delegation. */
export interface Crash {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly kind: ExecutorKind;
  /** True for a task of a designed plan: elsewhere the planner decides at once what follows. */
  readonly is_designed: boolean;
}

/** Returns true when work that broke off begins anew. */
export function mayBeginAnew({ attempt, kind, is_designed }: Crash): boolean {
  return is_designed && kind === 'agent' && attempt < engineLimits.crashAttemptsMax;
}

/** @param count Attempts that broke off. @param reason Cause of the last one. */
export function describeCrashes(count: number, reason: string): string {
  return count === 1 ? reason : `it crashed ${count} times, the last time because: ${reason}`;
}

export interface Breaker {
  /** Number of consecutive failures. */
  readonly failures: number;
  /** Number of rests since the last success; each is twice as long as the one before. */
  readonly rests: number;
  /** Time from which it allows a trial; null while it is closed. */
  readonly open_until_ms: number | null;
}

export const closedBreaker: Breaker = { failures: 0, rests: 0, open_until_ms: null };

export type BreakerState = 'closed' | 'open' | 'trial';

export function readBreaker({ open_until_ms }: Breaker, nowMs: number): BreakerState {
  if (open_until_ms === null) return 'closed';
  return nowMs < open_until_ms ? 'open' : 'trial';
}

/** @param atWork Number of the member's running tasks. */
export function mayPass(breaker: Breaker, nowMs: number, atWork: number): boolean {
  const state = readBreaker(breaker, nowMs);
  return state === 'closed' || (state === 'trial' && atWork === 0);
}

export interface MemberEnd {
  readonly status: TaskStatus;
  readonly began_ms: number;
  readonly ended_ms: number;
}

/** Counts an end. @param firstRestMs Length of the first rest. */
export function noteEnd(breaker: Breaker, end: MemberEnd, firstRestMs: number): Breaker {
  const { status, began_ms, ended_ms } = end;
  if (status === 'completed') return closedBreaker;
  if (status !== 'failed' && status !== 'timed_out') return breaker;
  const failures = breaker.failures + 1;
  const isEarly = failures < engineLimits.breakerFailuresMax;
  if (isEarly || readBreaker(breaker, began_ms) === 'open') return { ...breaker, failures };
  const { rests } = breaker;
  return { failures, rests: rests + 1, open_until_ms: ended_ms + firstRestMs * 2 ** rests };
}

/** Returns true when it was not open before and is open now. */
export function hasOpened(before: Breaker, after: Breaker, nowMs: number): boolean {
  return readBreaker(before, nowMs) !== 'open' && readBreaker(after, nowMs) === 'open';
}

interface Ended {
  readonly delegation_id: string;
  readonly state: string;
  readonly reason: string;
}

/** @param ended One of `all`. @returns why the rest is not started; null below `max` failures for its reason. */
export function findRepeatedFailure(
  ended: Ended,
  all: readonly Ended[],
  max: number,
): string | null {
  if (ended.state !== 'failed') return null;
  const key = failureKey(ended);
  const count = all.filter((one) => one.state === 'failed' && failureKey(one) === key).length;
  if (count < max) return null;
  return `${count} delegations failed for the same reason: ${cutText(ended.reason, 500)}`;
}

function failureKey({ delegation_id, reason }: Ended): string {
  return normaliseText(reason.replaceAll(delegation_id, '')).replaceAll(/\d+/g, '#');
}
