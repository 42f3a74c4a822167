import { isCancellation, patched } from '@temporalio/workflow';

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
    // Runs from before 2026-11-24 sent them at once.
    const before = underway !== null && patched('signals-in-order') ? underway : null;
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
