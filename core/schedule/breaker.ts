/**
 * Circuit breakers: what fails again and again is not tried for now, because each attempt costs. A member's breaker
 * gives the member a rest; siblings that fail for the same reason end the rest of their plan. Times are milliseconds of
 * work.
 *
 * Invariants:
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

/** The breaker of a member. */
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

/** End of a member's task. */
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
