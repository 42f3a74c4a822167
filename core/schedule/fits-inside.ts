/**
 * Decides whether a delegation works inside its wave's workflow or in a workflow of its own, by the length of the wave's
 * history.
 *
 * Invariants:
 *   HI1. A delegation begins inside only if `inline_events` holds the history, what is reserved for those inside, and
 *        what it may add itself before it can leave.
 *   HI2. No delegation begins or stays inside when the server suggests to end the history, which it does by bytes too.
 */
import type { ExecutorOutline } from '../../contracts/executor.ts';
import { defaultTeam, engineLimits } from '../limits.ts';

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
