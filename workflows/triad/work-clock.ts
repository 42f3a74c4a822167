import { nowMs } from '../shared/clock.ts';
import type { Control } from '../shared/control.ts';

/** Tells the time of work: it stands while a phase is paused or parked, and while it waits for the user. */
export interface WorkClock {
  /** Milliseconds of work since it was made. */
  now(): number;
  isRunning(): boolean;
  /** Stands from now on, until `go` was called as often as this. */
  stand(): void;
  go(): void;
}

export function createWorkClock(control: Control): WorkClock {
  let worked = 0;
  let since = nowMs();
  let holds = 0;
  const clock: WorkClock = {
    now: () => (holds === 0 ? worked + nowMs() - since : worked),
    isRunning: () => holds === 0,
    stand() {
      worked = clock.now();
      holds += 1;
    },
    go() {
      holds -= 1;
      since = nowMs();
    },
  };
  if (control.pausedReason() !== null || control.parkedReason() !== null) clock.stand();
  control.subscribe(({ type }) => (type === 'pause' ? clock.stand() : clock.go()));
  return clock;
}
