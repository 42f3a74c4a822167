import { PlanwaveClientError } from '../../client-error.ts';

/** Null for what is not there yet: a child is in its parent's view a moment before the server has started it. */
export async function ifFound<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'not_found') return null;
    throw error;
  }
}
