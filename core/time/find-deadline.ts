/**
 * Time limits by name. Times are milliseconds of work, as a clock tells that stands while nobody may work.
 *
 * Invariants:
 *   DL1. The deadline is the earliest of those of all that is limited and has begun.
 *   DL2. A timer that is set by `nextLook` comes no later than any deadline, also of what begins after it was set.
 */

/** Something that is limited and has begun. */
export interface WorkSpan<Limit extends string> {
  readonly limit: Limit;
  readonly since_ms: number;
  /** Who is at work on it: names of members, or ids of tasks. */
  readonly at_work: readonly string[];
}

export interface Deadline<Limit extends string> {
  readonly span: WorkSpan<Limit>;
  readonly at_ms: number;
}

/** Seconds of work. */
export type Timeouts<Limit extends string> = Readonly<Record<Limit, number>>;

/** @returns the first one to come; null when nothing is limited. Of two at one time, the first of `spans`. */
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
