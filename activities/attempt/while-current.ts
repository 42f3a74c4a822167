import { ApplicationFailure, Context } from '@temporalio/activity';
import { guardActivity } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';

/** Throws when another worker may have the work. `isInDoubt`: as `assertCurrent` takes it. */
export type AssertCurrent = (isInDoubt?: boolean) => Promise<void>;

/**
 * Stands right before a deed that must not be done twice, or late.
 *
 * @param hasMissed of the attempt's own heartbeat.
 * @param isInDoubt whether something speaks for it that another worker has the work. If undefined: nothing does.
 * @throws a failure that is made again, when another worker may have the work.
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
  // Clocks of two machines differ a little; half the time-out forgives that, and costs a question at worst.
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
 * @param work is given what it asks before it changes anything that others change too.
 */
export function whileCurrent<T>(work: (assertCurrent: AssertCurrent) => Promise<T>): Promise<T> {
  return guardActivity(() =>
    withHeartbeat(({ hasMissed }) =>
      work((isInDoubt) => assertCurrent(Context.current(), hasMissed, isInDoubt)),
    ),
  );
}
