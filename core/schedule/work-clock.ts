import { listNames } from '../text/list-names.ts';
import type { TriadTimeouts } from '../../contracts/triad.ts';

/**
 * Clock of the working time of a triad's phase or of a team. It stands during a pause or park, and while the work waits
 * for the user.
 *
 * Invariants:
 *   WC1. Time passes only while nothing holds the clock.
 *   WC2. The clock goes on from where it stood when its last hold is released.
 */

interface WorkClock {
  /** Milliseconds until the latest hold. */
  readonly worked_ms: number;
  /** Time of the latest start, in Unix epoch milliseconds. */
  readonly since_ms: number;
  /** Number of holds. */
  readonly holds: number;
}

/** @param now Unix epoch milliseconds, as everywhere in this file. */
export function startClock(now: number): WorkClock {
  return { worked_ms: 0, since_ms: now, holds: 0 };
}

/** @returns milliseconds of work. */
export function readClock({ worked_ms, since_ms, holds }: WorkClock, now: number): number {
  return holds === 0 ? worked_ms + Math.max(0, now - since_ms) : worked_ms;
}

export function holdClock(clock: WorkClock, now: number): WorkClock {
  return { worked_ms: readClock(clock, now), since_ms: now, holds: clock.holds + 1 };
}

export function releaseClock(clock: WorkClock, now: number): WorkClock {
  const holds = Math.max(0, clock.holds - 1);
  return { worked_ms: readClock(clock, now), since_ms: now, holds };
}

/**
 * Deadlines of named time limits. Times are milliseconds of work on a clock that stands while no work is allowed.
 *
 * Invariants:
 *   DL1. The deadline is the earliest of all limited spans that have begun.
 *   DL2. A timer that is set by `nextLook` fires no later than any deadline, even of spans that begin after it was set.
 */

/** A limited span that has begun. */
export interface WorkSpan<Limit extends string> {
  readonly limit: Limit;
  readonly since_ms: number;
  /** Names of the members, or ids of the tasks, that work in it. */
  readonly at_work: readonly string[];
}

export interface Deadline<Limit extends string> {
  readonly span: WorkSpan<Limit>;
  readonly at_ms: number;
}

/** Seconds of work. */
export type Timeouts<Limit extends string> = Readonly<Record<Limit, number>>;

/** @returns the earliest deadline; null when there is no span. Of equal ones, the first of `spans`. */
export function findDeadline<Limit extends string>(
  spans: readonly WorkSpan<Limit>[],
  timeouts: Timeouts<Limit>,
): Deadline<Limit> | null {
  return spans.reduce<Deadline<Limit> | null>((first, span) => {
    const at_ms = span.since_ms + timeouts[span.limit] * 1_000;
    return first === null || at_ms < first.at_ms ? { span, at_ms } : first;
  }, null);
}

/** @returns milliseconds until the next look at the clock, at least 1. */
export function nextLook<Limit extends string>(
  deadline: Deadline<Limit> | null,
  timeouts: Timeouts<Limit>,
  nowMs: number,
): number {
  const shortest = Math.min(...Object.values<number>(timeouts)) * 1_000;
  return Math.max(1, Math.min(shortest, (deadline?.at_ms ?? Infinity) - nowMs));
}

/**
 * Time limits of a triad's phase.
 *
 * Invariants:
 *   LS1. Limits apply to the phase, its round, each dispatch and each running turn.
 *   LS2. A timeout names its limit and every member that was working.
 *   LS3. The limit of a turn does not run while its member waits for another to act, and begins anew after that.
 */

export type TriadLimit = keyof TriadTimeouts;

export interface TurnSpan {
  readonly member: string;
  readonly since_ms: number;
  /** Time at which its limit began anew, after its member had waited for another to act. Null while it waits. */
  readonly acts_since_ms?: number | null;
  /** Equal for turns that were given together. */
  readonly dispatch: number;
}

/** @param turns Turns in the order in which they were given. */
export function listSpans(
  phaseSinceMs: number,
  roundSinceMs: number,
  turns: readonly TurnSpan[],
): WorkSpan<TriadLimit>[] {
  const at_work = turns.map(({ member }) => member);
  const dispatches = [...new Set(turns.map(({ dispatch }) => dispatch))];
  return [
    ...turns.flatMap(({ member, since_ms, acts_since_ms = since_ms }) =>
      acts_since_ms === null
        ? []
        : [{ limit: 'turn_seconds' as const, since_ms: acts_since_ms, at_work: [member] }],
    ),
    ...dispatches.map((dispatch) => {
      const together = turns.filter((turn) => turn.dispatch === dispatch);
      return {
        limit: 'dispatch_seconds' as const,
        since_ms: Math.min(...together.map(({ since_ms }) => since_ms)),
        at_work: together.map(({ member }) => member),
      };
    }),
    { limit: 'round_seconds', since_ms: roundSinceMs, at_work },
    { limit: 'phase_seconds', since_ms: phaseSinceMs, at_work },
  ];
}

/** Returns `2700 s for one dispatch (dispatch_seconds) are over. At work: mason, clerk.` */
export function describeTimeout(
  { span }: Deadline<TriadLimit>,
  timeouts: Timeouts<TriadLimit>,
): string {
  const { limit, at_work } = span;
  const names = at_work.length === 0 ? 'nobody' : listNames(at_work);
  return `${timeouts[limit]} s for one ${limit.replace('_seconds', '')} (${limit}) are over. At work: ${names}.`;
}
