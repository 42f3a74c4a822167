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
