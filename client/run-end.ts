import { WorkflowFailedError } from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common';
import type { DelegationOutcome, LoneOutcome } from '../contracts/delegation-run.ts';
import type { PlannerRunResult } from '../contracts/planner-run.ts';
import type { LoneWaveResult, WaveResult } from '../contracts/planner-wave.ts';
import type { ClientContext } from './server-calls.ts';
import { callServer, toClientError } from './server-calls.ts';

/** The end of a run. */
export type RunEnd =
  | { readonly ended: 'result'; readonly result: PlannerRunResult }
  /** A wave, delegation, triad, team or phase that was started by hand: it has an outcome of its own. */
  | { readonly ended: 'part'; readonly outcome: PartOutcome }
  | {
      readonly ended: 'failed' | 'cancelled' | 'terminated' | 'timed_out';
      /** Type of the failure, such as `InvalidInput`, or null. */
      readonly type: string | null;
      readonly reason: string;
    };

/** One that was started as a part of a run has no answer of its own. */
export type PartOutcome = DelegationOutcome | LoneOutcome | WaveResult | LoneWaveResult;

/** @param options `wait: false` only for a run that has ended: its result is then read with a deadline. */
export async function readRunEnd(
  context: ClientContext,
  runId: string,
  options: { readonly wait: boolean },
): Promise<RunEnd> {
  const read = async (): Promise<RunEnd> => {
    try {
      const handle =
        context.workflows.getHandle<() => Promise<PlannerRunResult | PartOutcome>>(runId);
      const result = await handle.result();
      return 'waves' in result ? { ended: 'result', result } : { ended: 'part', outcome: result };
    } catch (error) {
      if (error instanceof WorkflowFailedError) return describeFailure(error);
      throw error;
    }
  };
  if (!options.wait) return callServer(context, runId, read);
  try {
    return await read();
  } catch (error) {
    throw toClientError(context, runId, error);
  }
}

export function describeFailure(error: WorkflowFailedError): RunEnd {
  const { cause } = error;
  if (cause instanceof CancelledFailure) return { ended: 'cancelled', type: null, reason: '' };
  if (cause instanceof TerminatedFailure) {
    return { ended: 'terminated', type: null, reason: cause.message };
  }
  if (cause instanceof TimeoutFailure) {
    return { ended: 'timed_out', type: null, reason: cause.message };
  }
  const root = rootFailure(cause);
  const type = root instanceof ApplicationFailure ? (root.type ?? null) : null;
  return { ended: 'failed', type, reason: root?.message ?? error.message };
}

/** The innermost application failure: those around it only say that an activity or a child failed. */
function rootFailure(error: Error | undefined): Error | undefined {
  let found = error;
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    if (next instanceof ApplicationFailure) found = next;
  }
  return found;
}
