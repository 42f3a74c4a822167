import { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';

/**
 * Creates the environment of an attempt that began an hour ago, or this many milliseconds; its heartbeats get this
 * answer.
 */
export function oldAttempt(
  heartbeat: () => Promise<void>,
  ageMs = 3_600_000,
): MockActivityEnvironment {
  const client = new Client();
  Object.assign(client.activity, { heartbeat });
  const currentAttemptScheduledTimestampMs = Date.now() - ageMs;
  return new MockActivityEnvironment(
    { attempt: 1, heartbeatTimeoutMs: 8_000, currentAttemptScheduledTimestampMs },
    { client },
  );
}

/**
 * Creates the server's answer to the heartbeat of an attempt whose work was given away, or whose workflow no longer
 * exists.
 */
export function notFound(): Error {
  return Object.assign(new Error('said the server'), { name: 'ActivityNotFoundError' });
}

/** Creates the environment of such an attempt. */
export function lostAttempt(): MockActivityEnvironment {
  return oldAttempt(() => Promise.reject(notFound()));
}
