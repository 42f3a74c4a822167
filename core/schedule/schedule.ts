import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationState } from '../../contracts/views.ts';
import { closedBreaker, mayPass } from './failures.ts';
import type { Breaker } from './failures.ts';
import type { ExecutorOutline } from '../../contracts/executor.ts';
import { defaultTeam, engineLimits } from '../limits.ts';

/** Part of a delegation or of a team's task that decides when it runs. */
export interface Job extends Pick<DelegationOutline, 'needs'> {
  readonly delegation_id: string;
  /** Its name in reasons. If undefined: its delegation_id. */
  readonly name?: string;
  /** Inputs that must be known, or produced by a completed job. */
  readonly required_inputs?: readonly string[];
  readonly produces?: readonly string[];
  /** delegation_ids that must have completed before it starts. */
  readonly depends_on: readonly string[];
  /** delegation_ids that must have ended before it starts, whatever their end. */
  readonly after?: readonly string[];
  /** Member that does it, whose breaker counts its failures. If undefined: no breaker does. */
  readonly member_id?: string;
}

export type Entry<J extends Job = Job> = J & Progress;

export interface Progress {
  readonly state: DelegationState;
  /** Cause of its end. Empty until then, and when it completed. */
  readonly reason: string;
  /** True when it completed with a criterion unmet. */
  readonly leaves_unmet: boolean;
  /** Number of attempts that began. */
  readonly attempts: number;
  /** Milliseconds of work at which it began; 0 until then. */
  readonly began_ms: number;
}

export interface ScheduleRules {
  /** Number of jobs that may run at the same time. */
  readonly max_parallel: number;
  /** Inputs that exist without any job. If undefined: none. */
  readonly known_inputs?: readonly string[];
  /** Number of failures for the same reason at which the rest is skipped. If undefined: nothing is. */
  readonly same_failures_max?: number;
  /** Milliseconds of a member's first rest. If undefined: members do not rest. */
  readonly first_rest_ms?: number;
}

/** State of a schedule. It is plain data, so that it can be carried over continue-as-new. */
export interface Schedule<J extends Job = Job> extends ScheduleRules {
  /** `paused`: nothing starts or resumes for now. `stopping`: nothing ever does again. */
  readonly mode: 'open' | 'paused' | 'stopping';
  /** Listed in the order of the plan, or of their creation. */
  readonly entries: readonly Entry<J>[];
  /** Keyed by member_id; a missing one is closed. */
  readonly breakers: Readonly<Record<string, Breaker>>;
}

const unended: readonly DelegationState[] = ['pending', 'running', 'waiting', 'resuming'];

export function hasEnded(state: DelegationState): boolean {
  return !unended.includes(state);
}

export function isScheduleDone({ entries }: Schedule): boolean {
  return entries.every(({ state }) => hasEnded(state));
}

export function isRunning({ entries }: Schedule, delegationId: string): boolean {
  return entries.some((one) => one.state === 'running' && one.delegation_id === delegationId);
}

export function countRunning({ entries }: Pick<Schedule, 'entries'>): number {
  return entries.filter(({ state }) => state === 'running').length;
}

export function breakerOf({ breakers }: Schedule, memberId: string): Breaker {
  // Members may have any name, such as "constructor".
  return Object.hasOwn(breakers, memberId) ? (breakers[memberId] ?? closedBreaker) : closedBreaker;
}

/** Returns true when the breaker lets a task of the member start. @param nowMs Milliseconds of work. */
export function mayTake(schedule: Schedule, memberId: string, nowMs: number): boolean {
  const own = schedule.entries.filter(({ member_id }) => member_id === memberId);
  return mayPass(breakerOf(schedule, memberId), nowMs, countRunning({ entries: own }));
}

/** Tells why a member gets no tasks. */
export function describeRest(schedule: Schedule, memberId: string): string {
  const { failures } = breakerOf(schedule, memberId);
  return `"${memberId}" failed ${failures} times in a row and gets no tasks for a while`;
}

/**
 * Decides whether a delegation works inside its wave's workflow or in a workflow of its own, by the length of the wave's
 * history.
 *
 * Invariants:
 *   HI1. A delegation begins inside only if `inline_events` holds the history, what is reserved for those inside, and
 *        what it may add itself before it can leave.
 *   HI2. No delegation begins or stays inside when the server suggests to end the history, which it does by bytes too.
 */

/** History of a wave, and the room in it. */
export interface WaveHistory {
  readonly events: number;
  /** True when the server suggests to continue as new. */
  readonly is_long: boolean;
  /** Defined in RunLimits. */
  readonly inline_events: number;
}

/** @param reserved Events of the delegations inside, each as `reserveEvents` returns it. */
export function fitsInside(
  executor: ExecutorOutline,
  reserved: readonly number[],
  history: WaveHistory,
): boolean {
  const needed = [...reserved, reserveEvents(executor)].reduce((sum, events) => sum + events, 0);
  return !history.is_long && history.events + needed <= history.inline_events;
}

/** Returns true when a delegation inside has to leave before its next call. */
export function mustLeave({ events, is_long, inline_events }: WaveHistory): boolean {
  return is_long || events >= inline_events;
}

/** Returns the events that a delegation may add before it can leave. */
export function reserveEvents(executor: ExecutorOutline): number {
  const { turnEvents, triadEvents, taskEvents } = engineLimits;
  switch (executor.kind) {
    case 'agent':
      return turnEvents;
    case 'triad':
      return triadEvents;
    case 'team':
      return turnEvents + (executor.max_delegations ?? defaultTeam.max_delegations) * taskEvents;
  }
}
