import { Context } from '@temporalio/activity';

export interface Heartbeat {
  /**
   * True if this process was suspended or blocked for longer than the heartbeat timeout. Then the server has given the
   * work to another worker, which this process learns only from the answer to its next heartbeat.
   */
  readonly hasMissed: () => boolean;
  stop(): void;
}

/** Interval between two heartbeats in milliseconds. The shortest heartbeat timeout, 4 s, tolerates three late ones. */
export const heartbeatEveryMsDefault = 1_000;

/**
 * Sends heartbeats on a timer, the first after `everyMs`. A cancellation reaches an activity only through them, and
 * they distinguish a call that streams nothing from a worker that died.
 *
 * None is sent at once: the server starts counting when the activity starts, and a write of its state for each of many
 * short activities costs more than everything else it does for them.
 *
 * @param read returns the current details.
 * @param everyMs interval between two heartbeats.
 */
export function startHeartbeat(context: Context, everyMs: number, read: () => unknown): Heartbeat {
  const timeoutMs = context.info.heartbeatTimeoutMs ?? Infinity;
  let beatAtMs = performance.now();
  let isMissed = false;
  const hasMissed = (): boolean => {
    isMissed ||= performance.now() - beatAtMs > timeoutMs;
    return isMissed;
  };
  const timer = setInterval(() => {
    hasMissed();
    beatAtMs = performance.now();
    context.heartbeat(read());
  }, everyMs);
  return { hasMissed, stop: () => clearInterval(timer) };
}

/** Does the work of the current activity under heartbeats without details: they say only that its worker lives. */
export async function withHeartbeat<T>(
  work: (heartbeat: Pick<Heartbeat, 'hasMissed'>) => Promise<T>,
): Promise<T> {
  const heartbeat = startHeartbeat(Context.current(), heartbeatEveryMsDefault, () => null);
  try {
    return await work(heartbeat);
  } finally {
    heartbeat.stop();
  }
}
