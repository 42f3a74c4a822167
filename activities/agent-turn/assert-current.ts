import { ApplicationFailure } from '@temporalio/activity';
import type { Context } from '@temporalio/activity';

/**
 * For right before a deed that must not be done twice, or late.
 *
 * @param hasMissed of the attempt's own heartbeat.
 * @param isInDoubt whether something speaks for it that somebody else has the work. If undefined: nothing does.
 * @throws a failure that is made again, when somebody else may have the work.
 */
export async function assertCurrent(
  context: Context,
  hasMissed: () => boolean,
  isInDoubt = false,
): Promise<void> {
  if (hasMissed() || (await isSuperseded(context, isInDoubt))) throw createLateFailure();
}

/**
 * Whether this attempt may have been given to somebody else before it began to count heartbeats: its worker was
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

/** Nobody reads it when the server gave the work away; when it did not, the attempt is made again. */
function createLateFailure(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'ModelUnavailable',
    message:
      'The worker was suspended or blocked for too long, and somebody else may have the work. Nothing was done.',
    nonRetryable: false,
  });
}
