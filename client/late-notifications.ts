import { workflowTypes } from '../contracts/names.ts';
import { callServer, queryText, type ClientContext } from './server-calls.ts';

/** A message to a person that was not taken at once. */
export interface LateNotification {
  readonly run_id: string;
  /** False when it is given up. */
  readonly is_repeated: boolean;
  /** Reason of the last attempt; empty when the server has none. */
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
  return callServer(context, null, async () => {
    const found: LateNotification[] = [];
    for await (const { workflowId, runId, status } of context.lists.list({ query })) {
      if (found.length >= lateMax) break;
      const { raw } = await context.lists.getHandle(workflowId, runId).describe();
      found.push({
        run_id: workflowId.slice(0, workflowId.lastIndexOf('/')),
        is_repeated: status.name === 'RUNNING',
        reason: raw.pendingActivities?.[0]?.lastFailure?.message ?? '',
      });
    }
    return found;
  });
}
