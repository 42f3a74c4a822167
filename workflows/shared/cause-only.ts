import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** Unwraps the cause, so that a refused input fails the workflow with its faults, not with "Activity task failed". */
export async function causeOnly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
      throw error.cause;
    }
    throw error;
  }
}
