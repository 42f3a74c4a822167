import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { isContinuation, isEnd } from '../support/histories.ts';
import type { HistoryEvent } from '../support/histories.ts';
import { CallSites } from './call-sites.ts';

/** An event of a run's tree, seen as soon as the server had written it. */
export interface SeenEvent {
  readonly workflowId: string;
  /** How often its history was continued as new before. */
  readonly continued: number;
  /** Number of the event in its history, from 1. */
  readonly id: number;
  readonly event: HistoryEvent;
}

export interface HistoryWatch {
  readonly sites: CallSites;
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
  const sites = new CallSites();
  const following = new Map<string, Promise<void>>();
  const follow = (workflowId: string): void => {
    if (following.has(workflowId)) return;
    const see: See = (event, { runId, continued }) => {
      sites.see(event, { workflowId, runId });
      const child = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
      if (child) follow(child);
      onEvent({ workflowId, continued, id: Number(event.eventId), event });
    };
    following.set(workflowId, followOne(client, workflowId, stopping.signal, see));
  };
  follow(rootId);
  return {
    sites,
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
  see: See,
): Promise<void> {
  let followed: Followed | null = null;
  while (!signal.aborted) {
    try {
      followed ??= beginAt(await currentRun(client, workflowId), 0);
      const isLast = await readPage(client, { workflowId, followed, signal, see });
      if (!isLast) continue;
      const next = await currentRun(client, workflowId);
      if (next === followed.runId) return;
      // It has continued as new, or was reset.
      followed = beginAt(next, followed.continued + (followed.isContinued ? 1 : 0));
    } catch {
      // It does not exist yet, or nobody is there. After an error the history is read from its beginning.
      if (followed !== null) followed.nextPageToken = new Uint8Array();
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** One execution of a workflow, as far as it was read. */
interface Followed {
  readonly runId: string;
  /** How often the workflow was continued as new before. */
  readonly continued: number;
  isContinued: boolean;
  seen: number;
  nextPageToken: Uint8Array;
}

type See = (event: HistoryEvent, of: Pick<Followed, 'runId' | 'continued'>) => void;

const beginAt = (runId: string, continued: number): Followed => ({
  runId,
  continued,
  isContinued: false,
  seen: 0,
  nextPageToken: new Uint8Array(),
});

/** @returns whether the execution is over. */
async function readPage(
  client: Client,
  {
    workflowId,
    followed,
    signal,
    see,
  }: {
    readonly workflowId: string;
    readonly followed: Followed;
    readonly signal: AbortSignal;
    readonly see: See;
  },
): Promise<boolean> {
  const { runId } = followed;
  const page = await poll(client, { workflowId, runId }, followed.nextPageToken, signal);
  followed.nextPageToken = page.nextPageToken ?? new Uint8Array();
  const isOver = followed.nextPageToken.length === 0;
  const fresh = (page.history?.events ?? []).filter((one) => Number(one.eventId) > followed.seen);
  for (const event of fresh) {
    // A reset terminates an execution, and its workflow goes on.
    if (isOver && isEnd({ event }) && (await currentRun(client, workflowId)) !== runId) break;
    followed.seen = Number(event.eventId);
    followed.isContinued = isContinuation({ event });
    see(event, followed);
  }
  return isOver;
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
