/**
 * The time limits of a triad's phase. Times are milliseconds of work, as a clock tells that stands while nobody may work.
 *
 * Invariants:
 *   DL1. The deadline is the earliest of those of the phase, its round, each dispatch and each turn at work.
 *   DL2. A timer that is set by `nextLook` comes no later than any deadline, also of what begins after it was set.
 *   DL3. What timed out is told with its limit and with everybody who was at work on it.
 */
import type { TriadTimeouts } from '../../contracts/triad.ts';
import { listNames } from '../text/list-names.ts';

export type TimeLimit = keyof TriadTimeouts;

/** Seconds of work. */
type Timeouts = Readonly<Record<TimeLimit, number>>;

/** Something that is limited and has begun. */
export interface WorkSpan {
  readonly limit: TimeLimit;
  readonly since_ms: number;
  /** Names of the members at work on it. */
  readonly at_work: readonly string[];
}

export interface Deadline {
  readonly span: WorkSpan;
  readonly at_ms: number;
}

/** A turn at work. */
export interface TurnSpan {
  readonly member: string;
  readonly since_ms: number;
  /** Equal for turns that were dispatched together. */
  readonly dispatch: number;
}

/** @param turns In the order in which they were given out. */
export function listSpans(
  phaseSinceMs: number,
  roundSinceMs: number,
  turns: readonly TurnSpan[],
): WorkSpan[] {
  const at_work = turns.map(({ member }) => member);
  const dispatches = [...new Set(turns.map(({ dispatch }) => dispatch))];
  return [
    ...turns.map(({ member, since_ms }) => ({
      limit: 'turn_seconds' as const,
      since_ms,
      at_work: [member],
    })),
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

/** @returns the first one to come; null when nothing is limited. Of two at one time, the first of `spans`. */
export function findDeadline(spans: readonly WorkSpan[], timeouts: Timeouts): Deadline | null {
  return spans.reduce<Deadline | null>((first, span) => {
    const at_ms = span.since_ms + timeouts[span.limit] * 1_000;
    return first === null || at_ms < first.at_ms ? { span, at_ms } : first;
  }, null);
}

/** @returns milliseconds until the next look at the clock, at least 1. */
export function nextLook(deadline: Deadline | null, timeouts: Timeouts, nowMs: number): number {
  const shortest = Math.min(...Object.values(timeouts)) * 1_000;
  return Math.max(1, Math.min(shortest, (deadline?.at_ms ?? Infinity) - nowMs));
}

/** `2700 s for one dispatch (dispatch_seconds) are over. At work: mason, clerk.` */
export function describeTimeout({ span }: Deadline, timeouts: Timeouts): string {
  const { limit, at_work } = span;
  const names = at_work.length === 0 ? 'nobody' : listNames(at_work);
  return `${timeouts[limit]} s for one ${limit.replace('_seconds', '')} (${limit}) are over. At work: ${names}.`;
}
