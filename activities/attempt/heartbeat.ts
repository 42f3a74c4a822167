import { Context, ApplicationFailure } from '@temporalio/activity';
import type { Usage } from '../../contracts/usage.ts';
import { guardActivity } from './failures.ts';

/**
 * Reason why the server or the worker took an activity back.
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

/**
 * Does the work of the current activity under heartbeats without details, which say only that its worker lives, and gives every
 * failure a type that workflows know.
 */
export function withHeartbeat<T>(
  work: (heartbeat: Pick<Heartbeat, 'hasMissed'>) => Promise<T>,
): Promise<T> {
  return guardActivity(async () => {
    const heartbeat = startHeartbeat(Context.current(), heartbeatEveryMsDefault, () => null);
    try {
      return await work(heartbeat);
    } finally {
      heartbeat.stop();
    }
  });
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
  return withHeartbeat(({ hasMissed }) =>
    work((isInDoubt) => assertCurrent(Context.current(), hasMissed, isInDoubt)),
  );
}
