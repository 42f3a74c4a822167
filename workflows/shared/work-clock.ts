import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import {
  findDeadline,
  nextLook,
  holdClock,
  readClock,
  releaseClock,
  startClock,
} from '../../core/schedule/work-clock.ts';
import type { Deadline, Timeouts, WorkSpan } from '../../core/schedule/work-clock.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';

interface Watching<Limit extends string> {
  readonly clock: Stopwatch;
  /** Seconds of work. */
  readonly timeouts: Timeouts<Limit>;
  /** Returns the limited spans, with their starts in milliseconds of `clock`. */
  readonly spans: () => readonly WorkSpan<Limit>[];
  /** The timer's label. */
  readonly summary: string;
  /** Called once for each span whose time is over. @returns true to go on watching the others. */
  readonly onTimeout: (deadline: Deadline<Limit>) => 'watch_on' | 'end';
}

/**
 * Watches time limits with one timer, which is set again only after it has fired: one timer for each limit would cost
 * more events than the limited work.
 *
 * @returns a function that ends it.
 */
export function watchDeadline<Limit extends string>(watching: Watching<Limit>): () => void {
  const scope = new CancellationScope();
  void scope
    .run(() => watch(watching))
    .catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
  return () => scope.cancel();
}

async function watch<Limit extends string>(watching: Watching<Limit>): Promise<void> {
  const { clock, timeouts, spans, summary, onTimeout } = watching;
  const told = new Set<string>();
  for (;;) {
    const left = spans().filter((span) => !told.has(keyOf(span)));
    const deadline = findDeadline(left, timeouts);
    const now = clock.now();
    if (deadline !== null && deadline.at_ms <= now) {
      // A cancelled span takes a while to end, and is listed until then.
      told.add(keyOf(deadline.span));
      if (onTimeout(deadline) === 'end') return;
      continue;
    }
    await sleep(nextLook(deadline, timeouts, now), { summary });
    // Nothing comes due while no work is allowed.
    if (!clock.isRunning()) await condition(() => clock.isRunning());
  }
}

function keyOf({ limit, since_ms, at_work }: WorkSpan<string>): string {
  return JSON.stringify([limit, since_ms, at_work]);
}

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
