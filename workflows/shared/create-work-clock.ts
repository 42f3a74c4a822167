import { holdClock, readClock, releaseClock, startClock } from '../../core/schedule/work-clock.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';

/** Clock of working time; `core/schedule` decides which time counts. */
export interface Stopwatch {
  /** Returns milliseconds of work since it was created. */
  now(): number;
  isRunning(): boolean;
  /** Stops the clock until `go` was called as often as `stand`. */
  stand(): void;
  go(): void;
}

/** @param control Its pauses stop the clock. */
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
