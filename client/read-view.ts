import {
  NamespaceNotFoundError,
  QueryNotRegisteredError,
  WorkflowFailedError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowNotFoundError,
} from '@temporalio/common';
import type { DelegationOutcome, LoneOutcome } from '../contracts/delegation-run.ts';
import { queryNames } from '../contracts/names.ts';
import type { EvaluationResult } from '../contracts/evaluation.ts';
import type { PlannerRunResult } from '../contracts/planner-run.ts';
import type { LoneWaveResult, WaveResult } from '../contracts/planner-wave.ts';
import type { DelegationView, DesignStatusView, StatusView } from '../contracts/views.ts';
import { riskWorkflowId } from '../core/ids.ts';
import { CannotDecrypt } from '../encryption/key-ring.ts';
import { describeCells, isEvaluation, toRunListing, type RunListing } from './run-listing.ts';
import {
  callServer,
  grpcCodeOf,
  grpcCodes,
  grpcText,
  isRefusal,
  toClientError,
  type ClientContext,
} from './server-calls.ts';
import { describeStuck, findStuck, type StuckWorkflow } from './stuck-workflows.ts';
import { explainSilence } from './task-queue.ts';
import { countCells } from '../core/render/labels.ts';
import { commandText } from '../core/text/format.ts';

/** Answer to a query: from a worker, or, when none answers, what the server itself knows. */
export type Reading<T> =
  | { readonly live: true; readonly view: T }
  | {
      readonly live: false;
      /** Reason why there is no view, and what to try, in one line. */
      readonly note: string;
      /** Workflows that no worker can carry on, the one that was asked first. Empty when no worker is there at all. */
      readonly stuck: readonly StuckWorkflow[];
      readonly last_known: RunListing;
    };

export async function readView<T>(
  context: ClientContext,
  workflowId: string,
  query: string,
): Promise<Reading<T>> {
  try {
    const view = await context.connection.withDeadline(Date.now() + context.workerTimeoutMs, () =>
      context.workflows.getHandle(workflowId).query<T>(query),
    );
    return { live: true, view };
  } catch (error) {
    if (error instanceof CannotDecrypt) return lastKnown(context, workflowId, error.message);
    if (isFinal(error)) throw toClientError(context, workflowId, error);
    const [stuck, last_known] = await Promise.all([
      findStuck(context, workflowId),
      describeRun(context, workflowId),
    ]);
    const [first] = stuck;
    const note =
      first === undefined ? await explainFailure(context, error, last_known) : describeStuck(first);
    return { live: false, note, stuck, last_known };
  }
}

/** Reads what the server knows of a run whose view can't be decrypted. */
async function lastKnown(
  context: ClientContext,
  workflowId: string,
  why: string,
): Promise<Reading<never>> {
  const note = `This is what the server knows; the rest can't be read. ${why}`;
  return { live: false, note, stuck: [], last_known: await describeRun(context, workflowId) };
}

/**
 * Reads the status of a run. Stages that its design has at work in other workflows are asked there, unless the run waits
 * for the user; so are the waits of an evaluation's runs.
 */
export async function readStatus(
  context: ClientContext,
  runId: string,
): Promise<Reading<StatusView>> {
  const reading = await readView<StatusView>(context, runId, queryNames.status);
  if (!reading.live) return reading;
  const { evaluation, design, open_questions, stages_at_work = [] } = reading.view;
  if (evaluation !== undefined) return { live: true, view: await addWaits(context, reading.view) };
  if (design === undefined || open_questions > 0) return reading;
  const designs = [design.workflow_id, riskWorkflowId(design.workflow_id)];
  const answers = await Promise.all(
    designs
      .filter((id) => id !== runId)
      .map((workflow_id) => askStatus<DesignStatusView>(context, { workflow_id })),
  );
  const below = answers.flatMap((one) => (one.isTold ? (one.view?.stages_at_work ?? []) : []));
  const stages = [...stages_at_work, ...below];
  return stages.length === 0
    ? reading
    : { live: true, view: { ...reading.view, stages_at_work: stages } };
}

/** Adds what the runs of an evaluation wait for. A pause of the whole is its own wait. */
async function addWaits(context: ClientContext, view: StatusView): Promise<StatusView> {
  const { at_work = [] } = view.evaluation ?? {};
  const answers = await Promise.all(
    at_work.map(({ run_id }) => askStatus<StatusView>(context, { workflow_id: run_id })),
  );
  const waiting_for = [...view.waiting_for];
  for (const one of answers) {
    const run = one.isTold ? one.view : null;
    const own = run?.waiting_for.filter((wait) => !view.waiting_for.includes(wait)) ?? [];
    waiting_for.push(...own.map((wait) => `${run?.run_id}: ${wait}`));
  }
  return { ...view, waiting_for };
}

export async function describeRun(context: ClientContext, workflowId: string): Promise<RunListing> {
  return callServer(context, workflowId, async () =>
    toRunListing(await context.lists.getHandle(workflowId).describe()),
  );
}

/** Returns true if asking the server about the run would fail for the same reason. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof NamespaceNotFoundError ||
    isRefusal(error)
  );
}

/** Depending on when a worker was last seen, the server refuses at once, or waits until the deadline. */
const silenceCodes: ReadonlySet<number> = new Set([
  grpcCodes.deadlineExceeded,
  grpcCodes.cancelled,
  grpcCodes.failedPrecondition,
]);

/** Says why a query got no view, and what to try. */
async function explainFailure(
  context: ClientContext,
  error: unknown,
  run: RunListing,
): Promise<string> {
  if (error instanceof QueryNotRegisteredError && isEvaluation(run)) {
    return explainEvaluation(context, run);
  }
  const code = grpcCodeOf(error);
  const text = grpcText(error);
  if (/workflow task in failed state/i.test(text)) {
    return (
      'The worker fails at this run, so this is the last known state. ' +
      'Try: read the worker\'s log, and the run\'s "Workflow Task Failed" events in the Temporal Web UI.'
    );
  }
  if (code !== undefined && silenceCodes.has(code)) return explainSilence(context, run);
  return `The worker did not answer the query (${text}); this is the last known state.`;
}

/** Says how far an evaluation is, which has no questions of its own. */
async function explainEvaluation(
  context: ClientContext,
  { run_id, execution }: RunListing,
): Promise<string> {
  if (execution !== 'running')
    return `This is an evaluation. Try: ${commandText('report', run_id)}`;
  const answer = await askStatus<StatusView>(context, { workflow_id: run_id });
  const cells = answer.isTold ? answer.view?.evaluation : undefined;
  return `${cells === undefined ? '' : `${countCells(cells)}. `}${describeCells(run_id)}`;
}

/** Short, because the status is shown beside other things that are ready sooner. */
const statusTimeoutMs = 1_500;

export type StatusAnswer<T> =
  /** `view` is null before the workflow has anything to tell; so it is before it has begun. */
  | { readonly isTold: true; readonly view: T | null }
  /** No worker answered in time. */
  | { readonly isTold: false };

/** A delegation's id in the workflow in which it works: its wave, or a workflow of its own. */
export type WorkAddress = Pick<DelegationView, 'workflow_id' | 'delegation_id'>;

/** Asks a workflow for its `status`, or for that of a delegation in it. Never throws. */
export async function askStatus<T>(
  context: ClientContext,
  { workflow_id, delegation_id }: Pick<WorkAddress, 'workflow_id'> & Partial<WorkAddress>,
  query: string = queryNames.status,
): Promise<StatusAnswer<T>> {
  const asked = delegation_id === undefined ? [] : [{ delegation_id }];
  try {
    const view = await context.connection.withDeadline(Date.now() + statusTimeoutMs, () =>
      context.workflows.getHandle(workflow_id).query<T | null, unknown[]>(query, ...asked),
    );
    return { isTold: true, view };
  } catch (error) {
    return error instanceof WorkflowNotFoundError
      ? { isTold: true, view: null }
      : { isTold: false };
  }
}

export type RunEnd =
  | { readonly ended: 'result'; readonly result: PlannerRunResult }
  /** A wave, delegation, triad, team or phase that was started by hand: it has an outcome of its own. */
  | { readonly ended: 'part'; readonly outcome: PartOutcome }
  | { readonly ended: 'evaluation'; readonly evaluation: EvaluationResult }
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
        context.workflows.getHandle<
          () => Promise<PlannerRunResult | PartOutcome | EvaluationResult>
        >(runId);
      const result = await handle.result();
      if ('cells' in result) return { ended: 'evaluation', evaluation: result };
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
