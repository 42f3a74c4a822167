import { isCancellation } from '@temporalio/workflow';
import { readFailure } from './read-failure.ts';
import type { ReadFailure } from './read-failure.ts';

/**
 * Does what must not be left out, such as a write: when it fails for good, the run parks, and after `resume` it is done
 * again.
 *
 * @param isWorthWaiting whether this failure parks the run; others are thrown. Default: every failure does.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  park: (reason: string) => Promise<void>,
  isWorthWaiting: (failure: ReadFailure) => boolean = () => true,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isCancellation(error)) throw error;
      const failure = readFailure(error);
      if (!isWorthWaiting(failure)) throw error;
      await park(failure.message);
    }
  }
}
