import {
  CancellationScope,
  condition,
  inWorkflowContext,
  isCancellation,
} from '@temporalio/workflow';

/** Runs a side task that outlives the cancellation of the work around it. Any other error fails the workflow task, loudly. */
export function inBackground(task: () => Promise<void>): void {
  void CancellationScope.nonCancellable(async () => {
    try {
      await task();
    } catch (error) {
      // After the SDK has cut a workflow task off, for example in a suspended worker, the rest of its promises run outside of
      // every workflow. That one is discarded; a rejection that belongs to no workflow would end the worker.
      if (!isCancellation(error) && inWorkflowContext()) throw error;
    }
  });
}

/** Sends a signal to a workflow that may have ended: then it no longer needs the message. */
export async function signalQuietly(send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/**
 * Creates a sender of quiet signals to one workflow, each of which arrives before the next one is sent: the server may deliver
 * two that are under way in any order.
 */
export function signalInOrder(): typeof signalQuietly {
  let underway: Promise<void> | null = null;
  return async (send) => {
    const before = underway;
    const sent = signalQuietly(async () => {
      // A failure of the one before is its own sender's.
      if (before !== null) await before.catch(() => {});
      await send();
    });
    underway = sent;
    try {
      await sent;
    } finally {
      if (underway === sent) underway = null;
    }
  };
}

/**
 * @param show Shows what has changed. Called at the end of each workflow task that asked for it, once for all its changes.
 * @returns a function that asks for it.
 */
export function createRefresher(show: () => void): () => void {
  let isDirty = true;
  inBackground(async () => {
    for (;;) {
      await condition(() => isDirty);
      isDirty = false;
      show();
    }
  });
  return () => {
    isDirty = true;
  };
}
