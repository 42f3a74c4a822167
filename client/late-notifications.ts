import { workflowTypes } from '../contracts/names.ts';
import { readRunEnd } from './read-view.ts';
import { askAboutEach, listWorkflows } from './list-workflows.ts';
import { messageOfFailure, queryText, type ClientContext } from './server-calls.ts';

/** A message to a person that was not taken at once. */
export interface LateNotification {
  readonly run_id: string;
  /** False when it is given up. */
  readonly is_repeated: boolean;
  /** Reason of the last attempt, decrypted; empty when the server has none. */
  readonly reason: string;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
/** Most that are read: the first ones say what is wrong. */
const lateMax = 20;

/** Lists messages that are tried for more than a minute, and those that were given up within a day. */
export async function listLateNotifications(
  context: ClientContext,
): Promise<readonly LateNotification[]> {
  const nowMs = Date.now();
  const before = (ms: number): string => queryText(new Date(nowMs - ms).toISOString());
  const query =
    `WorkflowType = ${queryText(workflowTypes.notification)} ` +
    `AND TaskQueue = ${queryText(context.taskQueue)} ` +
    `AND ((ExecutionStatus = 'Running' AND StartTime < ${before(minuteMs)}) ` +
    `OR (ExecutionStatus = 'Failed' AND CloseTime > ${before(dayMs)}))`;
  const late = await listWorkflows(context, query, lateMax);
  return askAboutEach(context, late, async ({ workflowId, status }) => {
    const is_repeated = status.name === 'RUNNING';
    const reason = await (is_repeated ? reasonSoFar : lastReason)(context, workflowId);
    const run_id = workflowId.slice(0, workflowId.lastIndexOf('/'));
    return { run_id, is_repeated, reason };
  });
}

async function reasonSoFar({ lists, codec }: ClientContext, workflowId: string): Promise<string> {
  const { raw } = await lists.getHandle(workflowId).describe();
  const failure = raw.pendingActivities?.[0]?.lastFailure;
  return (failure && (await messageOfFailure(codec, failure))) ?? '';
}

async function lastReason(context: ClientContext, workflowId: string): Promise<string> {
  const readable = { ...context, workflows: context.lists };
  const end = await readRunEnd(readable, workflowId, { wait: false });
  return 'reason' in end ? end.reason : '';
}
