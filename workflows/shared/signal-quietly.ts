import { isCancellation } from '@temporalio/workflow';

/** Sends a signal to a workflow that may have ended meanwhile: then it needs no message any more. */
export async function signalQuietly(send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}
