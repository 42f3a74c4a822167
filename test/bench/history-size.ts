import type { Client } from '@temporalio/client';
import { eventTypes, fetchHistories } from '../support/histories.ts';
import type { StoredHistory } from '../support/histories.ts';

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
}

/** Reads the server's counts for a workflow, all its children, and every execution that one of them continued. */
export async function readHistorySize(client: Client, workflowId: string): Promise<HistorySize> {
  return measureHistories(client, await fetchHistories(client, workflowId));
}

/** Work of the server for a workflow and everything below it. */
export interface HistoryCounts extends HistorySize {
  readonly workflows: number;
  readonly workflowTasks: number;
  readonly activities: number;
  readonly signals: number;
  readonly timers: number;
}

export async function countHistory(client: Client, workflowId: string): Promise<HistoryCounts> {
  const executions = await fetchHistories(client, workflowId);
  const types = executions.flatMap(eventTypes);
  const count = (type: string): number => types.filter((one) => one === type).length;
  return {
    ...(await measureHistories(client, executions)),
    workflows: executions.length,
    workflowTasks: count('EVENT_TYPE_WORKFLOW_TASK_COMPLETED'),
    activities: count('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED'),
    signals: count('EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED'),
    timers: count('EVENT_TYPE_TIMER_STARTED'),
  };
}

async function measureHistories(
  client: Client,
  executions: readonly StoredHistory[],
): Promise<HistorySize> {
  const sizes = await Promise.all(
    executions.map(({ workflowId, runId }) =>
      client.workflow.getHandle(workflowId, runId).describe(),
    ),
  );
  return {
    events: sizes.reduce((sum, { historyLength }) => sum + historyLength, 0),
    bytes: sizes.reduce((sum, { historySize }) => sum + (historySize ?? 0), 0),
  };
}
