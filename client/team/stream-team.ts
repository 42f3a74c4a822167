import { setTimeout as sleep } from 'node:timers/promises';
import { PlanwaveClientError } from '../client-error.ts';
import type { PlanwaveClient } from '../planwave-client.ts';
import type { TeamLook } from './read-team.ts';
import { emptyCursor, readCursor, writeCursor } from './team-cursor.ts';
import type { TeamCursor } from './team-cursor.ts';
import type { TeamEvent } from './team-event.ts';
import { tellEnd } from './tell-end.ts';
import { forgetOld, tellTeam } from './tell-team.ts';
import { untilAborted } from './until-aborted.ts';

export interface StreamOptions {
  /** Of an earlier stream of the same team: goes on after the last event that it gave. If undefined: from the beginning. */
  readonly cursor?: string | undefined;
  /** Ends the stream, not the team. */
  readonly signal?: AbortSignal | undefined;
  /** Between two looks, in milliseconds. If undefined: 500. A call tells what it has written once a second. */
  readonly pollEveryMs?: number | undefined;
  /** How long a server that does not answer is asked again, in milliseconds. If undefined: 120,000. */
  readonly giveUpAfterMs?: number | undefined;
}

export interface TeamStream extends AsyncIterable<TeamEvent> {
  /** What was given out until now, the newest event included. A stream of another process can go on from it. */
  readonly cursor: string;
}

/**
 * What happens in a team, as it happens, until its end. The events of one team come once, in spite of lost connections;
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
  /** Whether the workflow was seen. */
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
    const look: TeamLook = yield* persist(stream, () => client.team(workflowId));
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
  const end = yield* persist(stream, () => stream.client.result(stream.workflowId));
  if (end === null) return;
  for (const event of tellEnd(end)) {
    const { type } = event;
    if (type !== 'error' && type !== 'answer' && type !== 'end') continue;
    if (stream.cursor.ending.includes(type)) continue;
    stream.cursor = { ...stream.cursor, ending: [...stream.cursor.ending, type] };
    yield event;
  }
}

/** Said once when nobody answers, and once when somebody does again. */
function* tellWorkers(last: TeamLook | null, look: TeamLook): Generator<TeamEvent, void> {
  if (look.run.execution !== 'running' || look.note === (last?.note ?? null)) return;
  yield { type: 'notice', text: look.note ?? 'A worker answers again.' };
}

/** Longest time between two tries, in milliseconds. */
const retryEveryMsMax = 5_000;

/** Repeats what fails because the server is away, later each time. Says when it goes and when it is back. */
async function* persist<T>(
  { everyMs, giveUpAfterMs, signal }: OpenStream,
  read: () => Promise<T>,
): AsyncGenerator<TeamEvent, T> {
  let lostAt: number | null = null;
  for (let waitMs = everyMs; ; waitMs = Math.min(2 * waitMs, retryEveryMsMax)) {
    try {
      const found = await untilAborted(read(), signal);
      if (lostAt !== null) yield { type: 'notice', text: 'The Temporal server answers again.' };
      return found;
    } catch (error) {
      const now = performance.now();
      const isAway = error instanceof PlanwaveClientError && error.code === 'unreachable';
      if (!isAway || now - (lostAt ?? now) >= giveUpAfterMs) throw error;
      if (lostAt === null) yield { type: 'notice', text: awayText };
      lostAt ??= now;
    }
    await sleep(waitMs, undefined, { signal });
  }
}

const awayText =
  'The connection to the Temporal server is lost. The team is safe there; trying again …';

function toClientError(error: unknown): PlanwaveClientError {
  if (error instanceof PlanwaveClientError) return error;
  return new PlanwaveClientError(
    'internal',
    error instanceof Error ? error.message : String(error),
  );
}
