import { NamespaceNotFoundError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { ClientContext } from './server-calls.ts';
import { commandText } from '../core/text/command-text.ts';
import {
  refusedCredentials,
  grpcCodes,
  callServer,
  grpcCodeOf,
  grpcText,
  toClientError,
} from './server-calls.ts';
import { toRunListing } from './run-listing.ts';
import type { RunListing } from './run-listing.ts';
import { describeStuck, findStuck } from './stuck-workflows.ts';
import type { StuckWorkflow } from './stuck-workflows.ts';
import { queryNames } from '../contracts/names.ts';
import type { DelegationStatusView, DelegationView } from '../contracts/views.ts';

/** Answer to a query: from a worker, or, when none answers, what the server itself knows. */
export type Reading<T> =
  | { readonly live: true; readonly view: T }
  | {
      readonly live: false;
      /** Why there is no view and what to try, in one line. */
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
    if (isFinal(error)) throw toClientError(context, workflowId, error);
    const [stuck, lastKnown] = await Promise.all([
      findStuck(context, workflowId),
      describeRun(context, workflowId),
    ]);
    const [first] = stuck;
    const note =
      first === undefined ? noteOf(error, context.taskQueue, lastKnown) : describeStuck(first);
    return { live: false, note, stuck, last_known: lastKnown };
  }
}

export async function describeRun(context: ClientContext, workflowId: string): Promise<RunListing> {
  return callServer(context, workflowId, async () =>
    toRunListing(await context.workflows.getHandle(workflowId).describe()),
  );
}

/** Returns true if asking the server about the run would fail for the same reason. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof NamespaceNotFoundError ||
    refusedCredentials('', error) !== undefined
  );
}

/** Depending on when a worker was last seen, the server refuses at once, or waits until the deadline. */
const noWorkerCodes: ReadonlySet<number> = new Set([
  grpcCodes.deadlineExceeded,
  grpcCodes.cancelled,
  grpcCodes.failedPrecondition,
]);

function noteOf(error: unknown, taskQueue: string, run: RunListing): string {
  const { version, run_id, task_queue } = run;
  const code = grpcCodeOf(error);
  const text = grpcText(error);
  if (/workflow task in failed state/i.test(text)) {
    return (
      'The worker fails at this run, so this is the last known state. ' +
      'Try: read the worker\'s log, and the run\'s "Workflow Task Failed" events in the Temporal Web UI.'
    );
  }
  if (code !== undefined && noWorkerCodes.has(code)) {
    if (version !== null) {
      return (
        `No worker of version ${version} is running, and the run is pinned to it; this is the last known state. ` +
        `Try: ${commandText('doctor')}`
      );
    }
    if (task_queue !== taskQueue) {
      const end = commandText('temporal', 'workflow', 'terminate', '--workflow-id', run_id);
      return (
        `No worker polls the task queue "${task_queue}", on which the run was started; this is the last known state. ` +
        `The task queue here is "${taskQueue}". If the name was misspelt, try: ${end}, then start it again.`
      );
    }
    return 'No worker is running; this is the last known state. Try: npm run worker (or npm run dev).';
  }
  return `The worker did not answer the query (${text}); this is the last known state.`;
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

/**
 * Finds a delegation below a wave by its path, `<wave>/<delegation_id>`, whether it has a workflow of its own or not.
 *
 * @returns null when no worker answers, or when there is no such delegation.
 */
export async function findWork(
  context: ClientContext,
  path: string,
): Promise<{ readonly address: WorkAddress; readonly status: DelegationStatusView } | null> {
  const end = path.lastIndexOf('/');
  const delegation_id = path.slice(end + 1);
  for (const workflow_id of [path, path.slice(0, Math.max(end, 0))]) {
    const address = { workflow_id, delegation_id };
    const answer =
      workflow_id === '' ? null : await askStatus<DelegationStatusView>(context, address);
    if (answer?.isTold !== true || answer.view?.delegation_id !== delegation_id) continue;
    return { address, status: answer.view };
  }
  return null;
}
