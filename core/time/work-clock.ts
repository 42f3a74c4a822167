/**
 * Clock of the working time of a triad's phase or of a team. It stands during a pause or park, and while the work waits
 * for the user.
 *
 * Invariants:
 *   WC1. Time passes only while nothing holds the clock.
 *   WC2. The clock goes on from where it stood when its last hold is released.
 */

export interface WorkClock {
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
