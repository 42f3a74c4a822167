import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { findDeadline, nextLook } from '../../core/schedule/work-clock.ts';
import type { Deadline, Timeouts, WorkSpan } from '../../core/schedule/work-clock.ts';
import type { Stopwatch } from './create-work-clock.ts';

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
