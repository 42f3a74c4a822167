import { CancellationScope, isCancellation } from '@temporalio/workflow';

/** Runs a side task that outlives the cancellation of the work around it. Any other error fails the workflow task, loudly. */
export function inBackground(task: () => Promise<void>): void {
  void CancellationScope.nonCancellable(async () => {
    try {
      await task();
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  });
}
