import { isCancellation } from '@temporalio/workflow';

/** @returns null instead of throwing when the work was cancelled. */
export async function stopWhenCancelled<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}
