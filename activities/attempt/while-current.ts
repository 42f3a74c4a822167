import { ApplicationFailure, Context } from '@temporalio/activity';
import { guardActivity } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';

/** Throws when another worker may have the work. `isInDoubt` is described in `assertCurrent`. */
export type AssertCurrent = (isInDoubt?: boolean) => Promise<void>;

/**
 * Checks the attempt right before an action that must not happen twice, or late.
 *
 * @param hasMissed of the attempt's own heartbeat.
 * @param isInDoubt true when there is a sign that another worker has the work. If undefined: false.
 * @throws a retryable failure when another worker may have the work.
 */
export async function assertCurrent(
  context: Context,
  hasMissed: () => boolean,
  isInDoubt = false,
): Promise<void> {
  if (hasMissed() || (await isSuperseded(context, isInDoubt))) throw createLateFailure();
}

/**
 * Tells whether this attempt may have been given to another worker before it began to count heartbeats: its worker was
 * suspended, or so busy that the task lay there. Asks the server only then, and when it is in doubt.
 *
 * @returns false also when the server can't be asked: its silence is no reason not to work.
 */
async function isSuperseded(context: Context, isInDoubt: boolean): Promise<boolean> {
  const { currentAttemptScheduledTimestampMs, heartbeatTimeoutMs, taskToken } = context.info;
  if (heartbeatTimeoutMs === undefined) return false;
  // Clocks of two machines differ slightly; half the timeout tolerates that, and costs a request at worst.
  const ageMs = Date.now() - currentAttemptScheduledTimestampMs;
  if (!isInDoubt && ageMs < heartbeatTimeoutMs / 2) return false;
  try {
    await context.client.activity.heartbeat(taskToken);
    return false;
  } catch (error) {
    return error instanceof Error && error.name === 'ActivityNotFoundError';
  }
}

/** Is read only when the server did not give the work away: then the attempt is made again. */
function createLateFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ModelUnavailable',
    message:
      'The worker was suspended or blocked for too long, and somebody else may have the work. Nothing was done.',
    nonRetryable: false,
  });
}

/**
 * Does the work of an activity under heartbeats.
 *
 * @param work receives the check that it must call before it changes anything shared.
 */
export function whileCurrent<T>(work: (assertCurrent: AssertCurrent) => Promise<T>): Promise<T> {
  return guardActivity(() =>
    withHeartbeat(({ hasMissed }) =>
      work((isInDoubt) => assertCurrent(Context.current(), hasMissed, isInDoubt)),
    ),
  );
}
