import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { fetchHistories, historyJson, type StoredHistory } from '../support/histories.ts';
import { lastLines } from './lane.ts';
import type { Lane } from './lane.ts';

/** Describes where a run stands, and what its workers printed last. Its histories are kept, to be replayed. */
export async function describeStuck(lane: Lane, workflowId: string): Promise<string> {
  return [
    await describeWorkflow(lane.client, workflowId),
    ...lane.takeOwnEnds(),
    keepHistories(await fetchHistories(lane.client, workflowId)),
    ...lane.workers.map((worker) => `worker ${worker.pid} printed last: ${lastLines(worker)}`),
  ].join('; ');
}

/** Writes histories, because their server ends with the campaign, and says where. */
export function keepHistories(histories: readonly StoredHistory[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-histories-'));
  for (const [at, { type, history }] of histories.entries()) {
    writeFileSync(join(folder, `${at + 1}-${type}.json`), JSON.stringify(historyJson(history)));
  }
  return `histories in ${folder}`;
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
