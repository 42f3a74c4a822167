import type { ActivityFunctionWithOptions } from '@temporalio/workflow';
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
  isCancellation,
} from '@temporalio/workflow';
import { failureConsequences } from '../../contracts/errors.ts';
import type { FailureConsequence, FailureType } from '../../contracts/errors.ts';
import type { Usage } from '../../contracts/usage.ts';
import { isRecord } from '../../core/json.ts';
import { noUsage, readUsage } from '../../core/usage/add-usage.ts';
import { messageOf } from '../../core/text/message-of.ts';

interface ReadFailure {
  readonly type: string;
  /** Text for people: what happened and what to try. */
  readonly message: string;
  readonly consequence: FailureConsequence;
  /** Usage of a failed model call; null for a failure that does not report any. */
  readonly usage: Usage | null;
  /** Unix epoch milliseconds at which a run that it parks goes on by itself. If undefined: after a resume. */
  readonly resumeAt?: number | undefined;
}

/**
 * Finds the cause behind a failed activity or child, and its consequence.
 * A failure of an unknown type stops its caller: repeating it blindly costs money.
 */
export function readFailure(error: unknown): ReadFailure {
  if (error instanceof ActivityFailure || error instanceof ChildWorkflowFailure) {
    return readFailure(error.cause ?? new Error(error.message));
  }
  if (error instanceof TimeoutFailure) {
    return {
      type: 'Timeout',
      message: `No worker finished the call in time (${error.message}). Try: look at the worker, then resume the run`,
      consequence: 'retry',
      usage: null,
    };
  }
  if (error instanceof ApplicationFailure) {
    const type = error.type ?? 'Error';
    return {
      type,
      message: error.message,
      consequence: consequenceOf(type),
      usage: usageOf(error),
      resumeAt: resumeAtOf(error),
    };
  }
  return { type: 'Error', message: messageOf(error), consequence: 'stop', usage: null };
}

/** Returns true when the store is the trouble: then waiting or a repair helps, and nothing else. */
export function isStoreFault({ type }: ReadFailure): boolean {
  return storeFaults.includes(type);
}

const storeFaults: readonly string[] = [
  'StoreUnavailable',
  'ArtifactMissing',
  'ArtifactDamaged',
] satisfies readonly FailureType[];

function consequenceOf(type: string): FailureConsequence {
  const consequences: Readonly<Record<string, FailureConsequence | undefined>> =
    failureConsequences;
  return consequences[type] ?? 'stop';
}

/** Reads the usage from `ModelFailureDetails`, where null means that nothing was billed; other failures have none. */
function usageOf(error: ApplicationFailure): Usage | null {
  const details: unknown = error.details?.[0];
  if (typeof details !== 'object' || details === null || !('usage' in details)) return null;
  return details.usage === null ? noUsage : readUsage(details.usage);
}

function resumeAtOf({ details }: ApplicationFailure): number | undefined {
  const [first]: unknown[] = details ?? [];
  const at = isRecord(first) ? first['resume_at'] : undefined;
  return typeof at === 'number' ? at : undefined;
}

/**
 * Does what must not be left out, such as a write: when it fails for good, the run parks, and after `resume` it is done
 * again.
 *
 * @param isWorthWaiting whether this failure parks the run; others are thrown. Default: every failure does.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  park: (reason: string) => Promise<void>,
  isWorthWaiting: (failure: ReadFailure) => boolean = () => true,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isCancellation(error)) throw error;
      const failure = readFailure(error);
      if (!isWorthWaiting(failure)) throw error;
      await park(failure.message);
    }
  }
}

/** Makes a call that must not be left out: one that fails for good parks the run, and is made again after `resume`. */
export function callUntilDone<Input, Output>(
  superior: { park(reason: string): Promise<void> },
  activity: ActivityFunctionWithOptions<(input: Input) => Promise<Output>>,
  summary: string,
  input: Input,
): Promise<Output> {
  return untilDone(
    () => activity.executeWithOptions({ summary }, [input]),
    (reason) => superior.park(reason),
  );
}

/** @returns null instead of throwing when the work was cancelled. */
export async function stopWhenCancelled<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}

/** Unwraps the cause, so that a refused input fails the workflow with its faults, not with "Activity task failed". */
export async function causeOnly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
      throw error.cause;
    }
    throw error;
  }
}
