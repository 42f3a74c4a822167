/**
 * The time of work of a triad's phase or of a team: it stands while that is paused or parked, and while it waits for the user.
 *
 * Invariants:
 *   WC1. Time passes only while nothing holds the clock, whatever else happens at the same time.
 *   WC2. It goes on when everything that held it has let go, from where it stood.
 */

export interface WorkClock {
  /** Milliseconds until it was held last. */
  readonly worked_ms: number;
  /** When it went on last, Unix epoch milliseconds. */
  readonly since_ms: number;
  /** Things that hold it. */
  readonly holds: number;
}

/** @param now Unix epoch milliseconds, as everywhere here. */
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
