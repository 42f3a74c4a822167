import type { Client } from '@temporalio/client';
import { fetchHistories } from '../support/histories.ts';

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
}

/** Of a workflow, all its children, and every execution that one of them continued: as the server counts them. */
export async function readHistorySize(client: Client, workflowId: string): Promise<HistorySize> {
  const executions = await fetchHistories(client, workflowId);
  const sizes = await Promise.all(
    executions.map(({ workflowId: id, runId }) => client.workflow.getHandle(id, runId).describe()),
  );
  return {
    events: sizes.reduce((sum, { historyLength }) => sum + historyLength, 0),
    bytes: sizes.reduce((sum, { historySize }) => sum + (historySize ?? 0), 0),
  };
}
