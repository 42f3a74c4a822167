import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/activity';

/**
 * Why the server or the worker took an activity back.
 * - `requested`: the workflow cancelled it, and waits for what it has to say.
 * - `shutdown`: this worker ends; another one will do the work.
 * - `other`: timed out, reset, paused, or its workflow is gone. Nothing waits for this attempt.
 */
export type CancelCause = 'requested' | 'shutdown' | 'other';

/** @returns null while the activity is not cancelled. */
export function readCancelCause(context: Context): CancelCause | null {
  const { aborted, reason } = context.cancellationSignal;
  if (!aborted) return null;
  // The SDK gives details for what the server said, and for its own shutdown only the reason.
  const said: unknown = reason instanceof Error ? reason.message : reason;
  const details = context.cancellationDetails;
  if (details?.cancelRequested === true || said === 'CANCELLED') return 'requested';
  if (details?.workerShutdown === true || said === 'WORKER_SHUTDOWN') return 'shutdown';
  return 'other';
}

/**
 * Ends an attempt that was cancelled. Never returns.
 *
 * On shutdown the attempt fails, because a failed attempt is scheduled again and a cancelled one is not.
 *
 * @throws ApplicationFailure (retryable) on shutdown, else the SDK's CancelledFailure.
 */
export function endCancelled(context: Context, cause: CancelCause): Promise<never> {
  if (cause !== 'shutdown') return context.cancelled;
  throw ApplicationFailure.create({
    type: 'ModelUnavailable',
    message: 'The worker shut down before the work was done. It is done again by itself.',
  });
}
