import { persist } from './persist.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlanwaveClientError } from './client-error.ts';
import type { PlanwaveClient } from './planwave-client.ts';
import type { TeamLook } from './read-work.ts';
import {
  emptyCursor,
  readCursor,
  writeCursor,
  tellEnd,
  forgetOld,
  tellTeam,
  type TeamCursor,
} from './tell-team.ts';
import type { TeamEvent } from './team-event.ts';
import { messageOf } from '../core/text/message-of.ts';

export interface StreamOptions {
  /** Cursor of an earlier stream of the same team: continues after its last event. If undefined: from the beginning. */
  readonly cursor?: string | undefined;
  /** Ends the stream, not the team. */
  readonly signal?: AbortSignal | undefined;
  /** Between two looks, in milliseconds. If undefined: 500. A call tells what it has written once a second. */
  readonly pollEveryMs?: number | undefined;
  /** Time for which a server that does not answer is asked again, in milliseconds. If undefined: 120,000. */
  readonly giveUpAfterMs?: number | undefined;
}

interface TeamStream extends AsyncIterable<TeamEvent> {
  /** Position after the newest event. A stream of another process can continue from it. */
  readonly cursor: string;
}

/**
 * Streams the events of a team until its end. Each event comes once, in spite of lost connections;
 * nothing of it is written to its history, so any number of streams may look at the same team.
 *
 * A connection that is lost for good, and a team that fails, are events of the type `error`: the loop over the stream never
 * throws, but for a workflow id that does not exist. An ended `signal` ends it without another event.
 *
 * @param workflowId of a team that was started alone, or of a delegation that a team does.
 * @throws PlanwaveClientError `bad_input` for a cursor that is none; `not_found`, while it is read, without such a workflow.
 */
export function streamTeam(
  client: Pick<PlanwaveClient, 'team' | 'result'>,
  workflowId: string,
  options: StreamOptions = {},
): TeamStream {
  const stream: OpenStream = {
    client,
    workflowId,
    everyMs: options.pollEveryMs ?? 500,
    giveUpAfterMs: options.giveUpAfterMs ?? 120_000,
    signal: options.signal ?? new AbortController().signal,
    isFound: false,
    cursor: options.cursor === undefined ? emptyCursor : readCursor(options.cursor),
  };
  return {
    get cursor() {
      return writeCursor(stream.cursor);
    },
    [Symbol.asyncIterator]: () => tellUntilEnd(stream),
  };
}

interface OpenStream {
  readonly client: Pick<PlanwaveClient, 'team' | 'result'>;
  readonly workflowId: string;
  readonly everyMs: number;
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
  /** True once the workflow was seen. */
  isFound: boolean;
  cursor: TeamCursor;
}

async function* tellUntilEnd(stream: OpenStream): AsyncGenerator<TeamEvent, void> {
  const { signal } = stream;
  try {
    for await (const event of tellLooks(stream)) {
      if (signal.aborted) return;
      yield event;
    }
  } catch (error) {
    if (signal.aborted) return;
    const { code, message } = toClientError(error);
    if (code === 'not_found' && !stream.isFound) throw error;
    yield { type: 'error', code, message };
  }
}

async function* tellLooks(stream: OpenStream): AsyncGenerator<TeamEvent, void> {
  const { client, workflowId, everyMs, signal } = stream;
  let last: TeamLook | null = null;
  while (!stream.cursor.ending.includes('end')) {
    const look: TeamLook = yield* persist(() => client.team(workflowId), stream);
    stream.isFound = true;
    const isOver = look.run.execution !== 'running';
    yield* tellWorkers(last, look);
    // Without a worker, what is known of the team is what was seen last.
    const seen: TeamLook = { ...look, work: look.work ?? last?.work ?? null };
    for (const { event, cursor } of tellTeam(stream.cursor, seen)) {
      stream.cursor = cursor;
      yield event;
    }
    stream.cursor = forgetOld(stream.cursor, look);
    if (isOver) yield* tellResult(stream);
    if (stream.cursor.ending.includes('end')) return;
    last = seen;
    await sleep(everyMs, undefined, { signal });
  }
}

async function* tellResult(stream: OpenStream): AsyncGenerator<TeamEvent, void> {
  const end = yield* persist(() => stream.client.result(stream.workflowId), stream);
  if (end === null) return;
  for (const event of tellEnd(end)) {
    const { type } = event;
    if (type !== 'error' && type !== 'answer' && type !== 'end') continue;
    if (stream.cursor.ending.includes(type)) continue;
    stream.cursor = { ...stream.cursor, ending: [...stream.cursor.ending, type] };
    yield event;
  }
}

/** Tells once when no worker answers, and once when one does again. */
function* tellWorkers(last: TeamLook | null, look: TeamLook): Generator<TeamEvent, void> {
  if (look.run.execution !== 'running' || look.note === (last?.note ?? null)) return;
  yield { type: 'notice', text: look.note ?? 'A worker answers again.' };
}

function toClientError(error: unknown): PlanwaveClientError {
  if (error instanceof PlanwaveClientError) return error;
  return new PlanwaveClientError('internal', messageOf(error));
}
