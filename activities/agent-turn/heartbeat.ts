import type { Context } from '@temporalio/activity';

export interface Heartbeat {
  stop(): void;
}

/**
 * Sends heartbeats on a timer, from now on. A cancellation reaches an activity only through them, and a call that
 * streams nothing must be told from a worker that died.
 *
 * @param read the details of the moment.
 * @param everyMs between two heartbeats.
 */
export function startHeartbeat(context: Context, everyMs: number, read: () => unknown): Heartbeat {
  const beat = (): void => context.heartbeat(read());
  beat();
  const timer = setInterval(beat, everyMs);
  return { stop: () => clearInterval(timer) };
}
