import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { failureConsequences } from '../../contracts/errors.ts';
import type { FailureConsequence, FailureType } from '../../contracts/errors.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage, readUsage } from '../../core/usage/add-usage.ts';

export interface ReadFailure {
  readonly type: string;
  /** Text for people: what happened and what to try. */
  readonly message: string;
  readonly consequence: FailureConsequence;
  /** Usage of a failed model call; null for a failure that does not report any. */
  readonly usage: Usage | null;
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
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'Error', message, consequence: 'stop', usage: null };
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
