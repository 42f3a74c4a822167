import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { replayHistories } from '../../worker/replay-histories.ts';
import type { ReplayedWorkflow } from '../../worker/replay-histories.ts';
import { sharedBundle } from './shared-server.ts';

export interface StoredHistory {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly history: History;
}

export type HistoryEvent = NonNullable<History['events']>[number];

/** Returns true for the last event of a history that is continued as new. */
export function isContinuation({ event }: { readonly event: HistoryEvent }): boolean {
  return Boolean(event.workflowExecutionContinuedAsNewEventAttributes);
}

/** Returns true for an event with which a workflow is over. */
export function isEnd({ event }: { readonly event: HistoryEvent }): boolean {
  const ends = [
    event.workflowExecutionCompletedEventAttributes,
    event.workflowExecutionFailedEventAttributes,
    event.workflowExecutionCanceledEventAttributes,
    event.workflowExecutionTerminatedEventAttributes,
    event.workflowExecutionTimedOutEventAttributes,
  ];
  return ends.some((attributes) => attributes !== null && attributes !== undefined);
}

/** Fetches all histories of a run: its own, of every continuation, and of every child, parents before children. */
export async function fetchHistories(client: Client, rootId: string): Promise<StoredHistory[]> {
  const found: StoredHistory[] = [];
  const wanted: { workflowId: string; runId?: string }[] = [{ workflowId: rootId }];
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    if (found.some(({ runId }) => runId === next.runId)) continue;
    const handle = client.workflow.getHandle(next.workflowId, next.runId);
    const history = await handle.fetchHistory();
    const { runId, type, before } = readStart(history);
    if (found.some((other) => other.runId === runId)) continue;
    found.push({ workflowId: next.workflowId, runId, type, history });
    if (before) wanted.push({ workflowId: next.workflowId, runId: before });
    wanted.push(...childrenOf(history));
  }
  return found;
}

function readStart({ events }: History) {
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    runId: started?.originalExecutionRunId ?? '',
    type: started?.workflowType?.name ?? '',
    before: started?.continuedExecutionRunId,
  };
}

/** Lists the children: the newest of each id, and the one that was started, which may have been replaced since. */
function childrenOf(history: History): { workflowId: string; runId?: string }[] {
  return (history.events ?? []).flatMap((event) => {
    const child = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
    const { workflowId, runId } = child ?? {};
    return workflowId && runId ? [{ workflowId }, { workflowId, runId }] : [];
  });
}

/**
 * Resets a run to a workflow task of its history: the first, or the last one that is over.
 *
 * @returns the execution that goes on from there.
 */
export async function resetRun(
  client: Client,
  run: WorkflowHandle,
  to: 'first' | 'last' = 'first',
): Promise<WorkflowHandle> {
  const { events } = await run.fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: run.workflowId },
    workflowTaskFinishEventId: tasks.at(to === 'first' ? 0 : -1)?.eventId ?? null,
    requestId: `${run.workflowId}-${to}`,
    reason: 'a test',
  });
  return client.workflow.getHandle(run.workflowId, runId ?? '');
}

/** Returns the names of all events, for assertions. */
export function eventTypes(stored: StoredHistory): string[] {
  const { events = [] } = historyJson(stored.history);
  if (events.length === 0) throw new Error(`The history of ${stored.workflowId} is empty.`);
  return events.map((event) => event.eventType);
}

/** An event as exported by the Temporal CLI and Web UI. */
export interface EventJson {
  readonly eventType: string;
  readonly [key: string]: unknown;
}

interface HistoryJson {
  readonly events?: readonly EventJson[];
}

/** Returns the history as exported by the Temporal CLI and Web UI. */
export function historyJson(history: History): HistoryJson {
  const json: HistoryJson = JSON.parse(historyToJSON(history));
  return json;
}

/** Replays histories with one worker, from the first call until it is closed: creating one costs more than a replay. */
export interface Replayer {
  /** @throws when the workflow code deviates from a history. */
  replayAll(histories: readonly StoredHistory[]): Promise<void>;
  close(): Promise<void>;
}

export function createReplayer(): Replayer {
  const waiting: StoredHistory[] = [];
  // Each result that is asked for takes the next history.
  async function* take(): AsyncIterableIterator<StoredHistory> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next;
  }
  let results: ReturnType<typeof replayHistories> | undefined;
  const replay = (history: StoredHistory): Promise<IteratorResult<ReplayedWorkflow>> => {
    results ??= replayHistories(take(), sharedBundle());
    waiting.push(history);
    return results.next();
  };
  return {
    async replayAll(histories) {
      for (const { value } of await Promise.all(histories.map(replay))) {
        if (value === undefined) throw new Error('The replaying worker has ended.');
        const { workflowId, fault } = value;
        if (fault !== null) throw new Error(`${workflowId} does not replay.`, { cause: fault });
      }
    },
    async close() {
      await results?.return?.();
    },
  };
}

/** Maps each type of activity and child workflow to the fairness keys with which it was scheduled. */
export function listTenants(histories: readonly StoredHistory[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const event of histories.flatMap(({ history }) => history.events ?? [])) {
    const activity = event.activityTaskScheduledEventAttributes;
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (activity) addKey(found, activity.activityType?.name, activity.priority?.fairnessKey);
    if (child) addKey(found, child.workflowType?.name, child.priority?.fairnessKey);
  }
  return found;
}

function addKey(found: Record<string, string>, name?: string | null, key?: string | null): void {
  const keys = found[name ?? '']?.split(' ') ?? [];
  found[name ?? ''] = [...new Set([...keys, key ?? ''])].join(' ');
}

/** Lists the task queues that model calls were given to. */
export function listModelQueues(histories: readonly StoredHistory[]): string[] {
  const scheduled = histories
    .flatMap(({ history }) => history.events ?? [])
    .map((event) => event.activityTaskScheduledEventAttributes)
    .filter((activity) => activity?.activityType?.name === 'modelTurn');
  return [...new Set(scheduled.map((activity) => activity?.taskQueue?.name ?? ''))];
}

export interface StartedTimer {
  /** Its name in the Web UI; empty when it has none. */
  readonly summary: string;
  /** Unix epoch seconds, with fractions: by the clock of the workflow task that started it, however long that took. */
  readonly ends_at: number;
}

/** Lists every timer that was started, whether it fired or not. */
export function listTimers(histories: readonly StoredHistory[]): StartedTimer[] {
  return histories.flatMap(({ history: { events } }) => {
    const byId = new Map((events ?? []).map((event) => [String(event.eventId), event]));
    return (events ?? []).flatMap(({ timerStartedEventAttributes: timer, userMetadata }) => {
      if (!timer) return [];
      const task = byId.get(String(timer.workflowTaskCompletedEventId));
      const began = byId.get(String(task?.workflowTaskCompletedEventAttributes?.startedEventId));
      const summary = userMetadata?.summary?.data;
      return [
        {
          summary: summary ? String(JSON.parse(Buffer.from(summary).toString())) : '',
          ends_at: secondsOf(began?.eventTime) + secondsOf(timer.startToFireTimeout),
        },
      ];
    });
  });
}

function secondsOf(
  time: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined,
): number {
  return Number(time?.seconds ?? 0) + (time?.nanos ?? 0) / 1e9;
}

interface Payloads {
  readonly payloads?: readonly { readonly data?: Uint8Array | null }[] | null;
}

/** The one value of a message or a result, as JSON text. */
export function payloadText(payloads: Payloads | null | undefined): string {
  const data = payloads?.payloads?.[0]?.data;
  if (!data) throw new Error('There is no payload to read: the run has no result.');
  return Buffer.from(data).toString('utf8');
}
