import { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';

/** The environment of an attempt that began an hour ago, or so many milliseconds; its heartbeats get this answer. */
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

/** What the server says to the heartbeat of an attempt whose work somebody else has, or whose workflow is no more. */
export function notFound(): Error {
  return Object.assign(new Error('said the server'), { name: 'ActivityNotFoundError' });
}

/** The environment of such an attempt. */
export function lostAttempt(): MockActivityEnvironment {
  return oldAttempt(() => Promise.reject(notFound()));
}
