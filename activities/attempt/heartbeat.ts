import { Context } from '@temporalio/activity';
import type { Usage } from '../../contracts/usage.ts';

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

/** The work that an attempt does, for logs and traces: ids and counts, no text. What is absent is not known, or not yet. */
export interface AttemptWork {
  readonly kind: 'model_call' | 'tool_call';
  readonly agent_id: string;
  /** Defined in ModelTurnInput. */
  readonly delegation_id?: string | undefined;
  /** Number of the turn in its conversation, from 1. */
  readonly turn?: number;
  /** Name of the tool, as the model wrote it. */
  readonly tool?: string;
  /** Requested model. */
  readonly model?: string;
  /** Usage of all attempts at a call that came to its end. */
  readonly usage?: Usage;
}

/** The work by attempt, forgotten with it. */
const works = new WeakMap<Context, AttemptWork>();

/** Notes the initial data of an attempt. */
export function noteWork(context: Context, work: AttemptWork): void {
  works.set(context, work);
}

/** Adds data that became known later. */
export function addToWork(context: Context, known: Partial<AttemptWork>): void {
  const work = works.get(context);
  if (work !== undefined) works.set(context, { ...work, ...known });
}

/** @returns undefined when the attempt calls neither model nor tool. */
export function workOf(context: Context): AttemptWork | undefined {
  return works.get(context);
}
