import type { Client } from '@temporalio/client';

/** Describes where a run and the workflows below it stand: pending work and the newest events of each. */
export async function describeStuck(client: Client, workflowId: string): Promise<string> {
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
      id ? describeStuck(client, id) : '',
    ),
  );
  return [
    `${workflowId}: task ${raw.pendingWorkflowTask?.state ?? 'none'}`,
    `activities [${pending.join('; ')}]`,
    `events [${newest.join(', ')}]`,
    ...children,
  ].join(' ');
}
