import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { findDeadline, listSpans, nextLook } from '../../core/triad/find-deadline.ts';
import type { Deadline, TimeLimit, TurnSpan } from '../../core/triad/find-deadline.ts';
import type { PhaseClock } from './create-work-clock.ts';

/** What is limited, and when it began, in milliseconds of work. */
export interface Limited {
  readonly phase: number;
  readonly round: number;
  /** At work now. */
  readonly turns: readonly TurnSpan[];
}

interface Watching {
  readonly clock: PhaseClock;
  readonly timeouts: Readonly<Record<TimeLimit, number>>;
  readonly spans: () => Limited;
  readonly onTimeout: (deadline: Deadline) => void;
}

/**
 * Watches the time limits of a phase by one timer, which is set anew only when it has fired: a timer for each turn would
 * cost more events than the turn.
 *
 * @returns ends it.
 */
export function watchLimits(watching: Watching): () => void {
  const scope = new CancellationScope();
  void scope
    .run(() => watch(watching))
    .catch((error: unknown) => {
      if (!isCancellation(error)) throw error;
    });
  return () => scope.cancel();
}

async function watch({ clock, timeouts, spans, onTimeout }: Watching): Promise<void> {
  for (;;) {
    const { phase, round, turns } = spans();
    const deadline = findDeadline(listSpans(phase, round, turns), timeouts);
    const now = clock.now();
    if (deadline !== null && deadline.at_ms <= now) return onTimeout(deadline);
    await sleep(nextLook(deadline, timeouts, now), { summary: 'time limits of the phase' });
    // Nothing comes due while nobody may work.
    if (!clock.isRunning()) await condition(() => clock.isRunning());
  }
}
