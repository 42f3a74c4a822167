import { holdClock, readClock, releaseClock, startClock } from '../../core/time/work-clock.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';

/** Tells the time of work; `core/time` says what counts. */
export interface Stopwatch {
  /** Milliseconds of work since it was made. */
  now(): number;
  isRunning(): boolean;
  /** It stands from now on, until `go` was called as often. */
  stand(): void;
  go(): void;
}

/** @param control A pause holds the clock. */
export function createWorkClock(control: Control): Stopwatch {
  let clock = startClock(nowMs());
  const stand = (): void => {
    clock = holdClock(clock, nowMs());
  };
  const go = (): void => {
    clock = releaseClock(clock, nowMs());
  };
  if (control.pausedReason() !== null || control.parkedReason() !== null) stand();
  control.subscribe(({ type }) => (type === 'pause' ? stand() : go()));
  return { now: () => readClock(clock, nowMs()), isRunning: () => clock.holds === 0, stand, go };
}
