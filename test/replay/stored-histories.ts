import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { replayHistories } from '../../worker/replay-histories.ts';
import type { WorkflowBundle } from '../../worker/bundle-workflows.ts';
import { quietRuntime } from '../support/quiet-runtime.ts';

/** Histories that `record-histories.ts` recorded; its header says when and how to record again. */
const folder = fileURLToPath(new URL('histories', import.meta.url));

/** Names of the recorded histories. */
export const historyFiles: readonly string[] = readdirSync(folder);

/** A recorded history as JSON. */
export interface HistoryJson {
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

export function readHistory(file: string): HistoryJson {
  const stored: HistoryJson = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return stored;
}

/** Silences the SDK, which reports each refused history a second time. */
export function silenceRuntime(): void {
  quietRuntime({ logging: { filter: 'OFF' } });
}

/** Replays with one worker. Resolves with the fault of each history, in their order; null for one that replays. */
export async function faultsOf(
  histories: readonly HistoryJson[],
  bundle: WorkflowBundle,
): Promise<(string | null)[]> {
  const faults: (string | null)[] = [];
  const recorded = histories.map((history) => ({
    workflowId: workflowIdOf(history),
    history: historyFromJSON(history),
  }));
  for await (const { fault } of replayHistories(recorded, bundle)) faults.push(fault);
  return faults;
}

function workflowIdOf({ events }: HistoryJson): string {
  const started: { workflowId: string } = Object(
    events[0]?.['workflowExecutionStartedEventAttributes'],
  );
  return started.workflowId;
}

/** Lists the histories with which a worker takes a workflow over: each ends in the start of a workflow task. */
export function cutAtTasks({ events }: HistoryJson): HistoryJson[] {
  return events.flatMap(({ eventType }, at) =>
    eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED' ? [{ events: events.slice(0, at + 1) }] : [],
  );
}

/** Lists the patches that the code asked for when the history was recorded. */
export function listPatches({ events }: HistoryJson): string[] {
  const marked = events.filter(({ eventType }) => eventType === 'EVENT_TYPE_MARKER_RECORDED');
  const payloads = [...JSON.stringify(marked).matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)];
  const texts = payloads.map(([, data = '']) => Buffer.from(data, 'base64').toString('utf8'));
  return texts.flatMap((text) => /"id":"([^"]+)"/.exec(text)?.[1] ?? []);
}
