import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';

/** Returns the faults that a workflow named when it refused its input, one per line, without head and example. */
export async function refusedInput(run: WorkflowHandle): Promise<readonly string[]> {
  const error: unknown = await run.result().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const failed = error instanceof WorkflowFailedError ? error.cause : error;
  // The refusal may come from the activity.
  const cause = failed instanceof ActivityFailure ? failed.cause : failed;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'InvalidInput') {
    throw new Error(`Expected InvalidInput, not: ${String(cause)}`);
  }
  return cause.message
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2));
}
