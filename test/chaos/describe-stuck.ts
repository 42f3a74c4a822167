import type { Client } from '@temporalio/client';
import { lastLines } from './lane.ts';
import type { Lane } from './lane.ts';

/** Describes where a run stands, and what its workers printed last. */
export async function describeStuck(lane: Lane, workflowId: string): Promise<string> {
  return [
    await describeWorkflow(lane.client, workflowId),
    ...lane.takeOwnEnds(),
    ...lane.workers.map((worker) => `worker ${worker.pid} printed last: ${lastLines(worker)}`),
  ].join('; ');
}

/** Describes where a workflow and those below it stand: pending work and the newest events of each. */
async function describeWorkflow(client: Client, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  const [{ raw }, { events }] = [await handle.describe(), await handle.fetchHistory()];
  const pending = (raw.pendingActivities ?? []).map(
    ({ activityType, attempt, state, lastFailure }) =>
      `${activityType?.name} attempt ${attempt} ${state} ${lastFailure?.message ?? ''}`,
  );
  const newest = (events ?? []).slice(-6).map((event) => {
    const attributes = Object.entries(event).find(
      ([name, value]) => name.endsWith('Attributes') && value,
    );
    return `${String(event.eventId)} ${attributes?.[0].replace('EventAttributes', '')}`;
  });
  const children = await Promise.all(
    (raw.pendingChildren ?? []).map(async ({ workflowId: id }) =>
      id ? describeWorkflow(client, id) : '',
    ),
  );
  return [
    `${workflowId}: task ${raw.pendingWorkflowTask?.state ?? 'none'}`,
    `activities [${pending.join('; ')}]`,
    `events [${newest.join(', ')}]`,
    ...children,
  ].join(' ');
}
