import { isCancellation } from '@temporalio/workflow';
import { readFailure } from './read-failure.ts';

/**
 * Does what must not be left out, such as a write: when it fails for good, the run parks, and after `resume` it is done
 * again.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  park: (reason: string) => Promise<void>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isCancellation(error)) throw error;
      await park(readFailure(error).message);
    }
  }
}
