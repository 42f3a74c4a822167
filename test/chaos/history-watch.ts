import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import type { StoredHistory } from '../support/histories.ts';

type HistoryEvent = NonNullable<StoredHistory['history']['events']>[number];

/** An event of a run's tree, seen as soon as the server had written it. */
export interface SeenEvent {
  readonly workflowId: string;
  /** Number of the event in its history, from 1. */
  readonly id: number;
  readonly event: HistoryEvent;
}

/** Whether a workflow is over with this event. */
export function isEnd({ event }: Pick<SeenEvent, 'event'>): boolean {
  const ends = [
    event.workflowExecutionCompletedEventAttributes,
    event.workflowExecutionFailedEventAttributes,
    event.workflowExecutionTerminatedEventAttributes,
    event.workflowExecutionTimedOutEventAttributes,
  ];
  return ends.some((attributes) => attributes !== null && attributes !== undefined);
}

export interface HistoryWatch {
  /** Run ids by workflow id, as far as they have begun. */
  readonly runIds: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

/** Longer than the server lets a poll hang. */
const pollMsMax = 60_000;
const retryMs = 20;

/**
 * Follows the history of a run, also after it has continued as new or was reset, and those of its children from the moment they are to be started, by long polls. A
 * server that is away is asked until it is back.
 */
export function watchHistories(
  client: Client,
  rootId: string,
  onEvent: (seen: SeenEvent) => void,
): HistoryWatch {
  const stopping = new AbortController();
  // Every poll of every history listens.
  setMaxListeners(0, stopping.signal);
  const runIds = new Map<string, string>();
  const following = new Map<string, Promise<void>>();
  const follow = (workflowId: string): void => {
    if (following.has(workflowId)) return;
    const see = (event: HistoryEvent, runId: string): void => {
      runIds.set(workflowId, runId);
      const child = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
      if (child) follow(child);
      onEvent({ workflowId, id: Number(event.eventId), event });
    };
    following.set(workflowId, followOne(client, workflowId, stopping.signal, see));
  };
  follow(rootId);
  return {
    runIds,
    async stop() {
      stopping.abort();
      await Promise.all(following.values());
    },
  };
}

async function followOne(
  client: Client,
  workflowId: string,
  signal: AbortSignal,
  see: (event: HistoryEvent, runId: string) => void,
): Promise<void> {
  let runId: string | null = null;
  let seen = 0;
  let nextPageToken: Uint8Array = new Uint8Array();
  while (!signal.aborted) {
    try {
      runId ??= await currentRun(client, workflowId);
      const page = await poll(client, { workflowId, runId }, nextPageToken, signal);
      nextPageToken = page.nextPageToken ?? new Uint8Array();
      for (const event of page.history?.events ?? []) {
        // After an error the history is read from its beginning.
        if (Number(event.eventId) <= seen) continue;
        if (nextPageToken.length === 0 && isEnd({ event })) {
          const next = await currentRun(client, workflowId);
          if (next !== runId) break;
        }
        seen = Number(event.eventId);
        see(event, runId);
      }
      if (nextPageToken.length > 0) continue;
      const next = await currentRun(client, workflowId);
      if (next === runId) return;
      // It has continued as new, or was reset.
      runId = next;
      seen = 0;
    } catch {
      // It does not exist yet, or nobody is there.
      nextPageToken = new Uint8Array();
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

async function currentRun(client: Client, workflowId: string): Promise<string> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  return runId;
}

function poll(
  { connection, workflowService }: Client,
  execution: { readonly workflowId: string; readonly runId: string },
  nextPageToken: Uint8Array,
  signal: AbortSignal,
) {
  return connection.withDeadline(Date.now() + pollMsMax, () =>
    connection.withAbortSignal(signal, () =>
      workflowService.getWorkflowExecutionHistory({
        namespace: 'default',
        execution,
        waitNewEvent: true,
        nextPageToken,
      }),
    ),
  );
}
