import { isCancellation } from '@temporalio/workflow';

/** Sends a signal to a workflow that may have ended: then it no longer needs the message. */
export async function signalQuietly(send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}
