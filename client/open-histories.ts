import type { History } from '@temporalio/common/lib/proto-utils.js';
import { workflowTypes } from '../contracts/names.ts';
import type { ClientContext } from './server-calls.ts';
import { PlanwaveClientError } from './client-error.ts';
import { queryText, callServer } from './server-calls.ts';

export interface OpenHistory {
  readonly workflowId: string;
  readonly history: History;
}

/** Milliseconds for one history, which may have many megabytes, and for a page of the list. */
const timeoutMs = 60_000;

/** Those that end meanwhile are read too; those that are deleted meanwhile are left out. */
export async function* readOpenHistories(
  context: ClientContext,
): AsyncIterableIterator<OpenHistory> {
  const types = Object.values(workflowTypes).map(queryText).join(', ');
  const query =
    `ExecutionStatus = 'Running' AND TaskQueue = ${queryText(context.taskQueue)} ` +
    `AND WorkflowType IN (${types})`;
  const list = context.workflows.list({ query, pageSize: 1_000 })[Symbol.asyncIterator]();
  for (;;) {
    const next = await callServer(context, null, () => list.next(), timeoutMs);
    if (next.done === true) return;
    const { workflowId, runId } = next.value;
    const history = await readIfThere(context, workflowId, runId);
    if (history !== null) yield { workflowId, history };
  }
}

async function readIfThere(
  context: ClientContext,
  workflowId: string,
  runId: string,
): Promise<History | null> {
  try {
    const handle = context.workflows.getHandle(workflowId, runId);
    return await callServer(context, workflowId, () => handle.fetchHistory(), timeoutMs);
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'not_found') return null;
    throw error;
  }
}
