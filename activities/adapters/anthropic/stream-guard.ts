import { parseJson } from '../../../core/json.ts';
import type { Middleware } from '@anthropic-ai/sdk';
import { replyOf } from './http-fetch.ts';

/** Cause of a call's end: the caller, or one of our limits of silence, duration and size. */
export type StopCause = 'caller' | 'idle' | 'total' | 'size';

export interface CallLimits {
  /** Longest silence in milliseconds, counted from the start of the call. */
  readonly idleTimeoutMs: number;
  /** Longest duration of a call in milliseconds, even of an active one. */
  readonly totalTimeoutMs: number;
}

/** Joins the caller's signal with the limits of a call. The first to fire is the cause; later ones change nothing. */
export interface CallWatch {
  readonly signal: AbortSignal;
  /** Rejects when the call is ended from this side. Never resolves. */
  readonly ended: Promise<never>;
  /** Returns the cause of the end, or null while the call goes on. */
  cause(): StopCause | null;
  /** Restarts the idle limit, because data arrived. */
  touch(): void;
  /** Ends the call because its reply is larger than any reply can be. */
  endBySize(): void;
  /** Releases timers and listeners. Must be called once the call has ended in any way. */
  close(): void;
}

export function createCallWatch(caller: AbortSignal, limits: CallLimits): CallWatch {
  const controller = new AbortController();
  let cause: StopCause | null = null;
  let closed = false;
  let rejectEnded: (reason: Error) => void;
  const ended = new Promise<never>((_resolve, reject) => {
    rejectEnded = reject;
  });
  // The promise need not be awaited.
  ended.catch(() => undefined);

  const end = (by: StopCause) => (): void => {
    if (cause !== null) return;
    cause = by;
    controller.abort();
    rejectEnded(new Error(`ended by ${by}`));
  };
  const endByCaller = end('caller');
  const idleTimer = setTimeout(end('idle'), limits.idleTimeoutMs);
  const totalTimer = setTimeout(end('total'), limits.totalTimeoutMs);
  caller.addEventListener('abort', endByCaller, { once: true });
  if (caller.aborted) endByCaller();

  return {
    signal: controller.signal,
    ended,
    cause: () => cause,
    touch: () => {
      // Refreshing a cleared timer would start it again.
      if (cause === null && !closed) idleTimer.refresh();
    },
    endBySize: end('size'),
    close: () => {
      closed = true;
      clearTimeout(idleTimer);
      clearTimeout(totalTimer);
      caller.removeEventListener('abort', endByCaller);
    },
  };
}

/** Facts about the HTTP response of a call, for error messages. */
export interface ResponseFacts {
  readonly status: number;
  readonly contentType: string | null;
  readonly requestId: string | null;
  /** Bytes of the body so far, after decompression. */
  bodyBytes: number;
}

export interface GuardEvents {
  readonly onResponse: (facts: ResponseFacts) => void;
  /** Called for each chunk of the body, including pings, which the SDK swallows. */
  readonly onBytes: () => void;
  /** Called once when the body or one of its lines is larger than any reply. The body ends there. */
  readonly onTooLarge: () => void;
}

/** Largest body of a reply, in bytes after decompression. The longest output of a model is far below it. */
const bodyBytesMax = 64 * 1024 * 1024;

/** Longest line of an event stream, in bytes: a gateway that never ends one would fill the memory. */
const lineBytesMax = 8 * 1024 * 1024;

/**
 * Sits between the socket and the SDK.
 *
 * - Counts bytes, so that the watchdog sees a stream that only pings as alive.
 * - Ends a body or a line that no reply can have, through `onTooLarge`.
 * - Gives events without `usage` an empty one: the SDK reads into it unchecked, and a whole reply that was paid for
 *   would be lost in a TypeError.
 */
export function createStreamGuard(events: GuardEvents): Middleware {
  return async (request, next) => {
    const response = await next(request);
    const facts: ResponseFacts = {
      status: response.status,
      contentType: response.headers.get('content-type'),
      requestId: response.headers.get('request-id'),
      bodyBytes: 0,
    };
    events.onResponse(facts);
    if (response.body === null) return response;
    const body = countBytes(response.body, facts, events);
    const isStream = facts.contentType?.startsWith('text/event-stream') === true;
    return replyOf(response, isStream ? fillUsages(body, events) : body);
  };
}

async function* countBytes(
  body: AsyncIterable<Uint8Array>,
  facts: ResponseFacts,
  events: GuardEvents,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      facts.bodyBytes += chunk.byteLength;
      if (facts.bodyBytes > bodyBytesMax) return events.onTooLarge();
      events.onBytes();
      yield chunk;
    }
  } catch (error) {
    throw new Error('The reply broke off.', { cause: error });
  }
}

const lineEnd = 0x0a;

/** Passes an event stream on in whole lines, and changes only lines that lack fields which the SDK needs. */
async function* fillUsages(
  body: AsyncIterable<Uint8Array>,
  events: GuardEvents,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for await (const chunk of body) {
    // Only the new part is searched for line ends: a long line would be searched again with each of its chunks.
    const end = chunk.lastIndexOf(lineEnd) + 1;
    restBytes += end === 0 ? chunk.byteLength : chunk.indexOf(lineEnd);
    if (restBytes > lineBytesMax) return events.onTooLarge();
    if (end > 0) {
      yield fillUsagesOf(Buffer.concat([...rest, chunk.subarray(0, end)]));
      rest = [];
      restBytes = chunk.byteLength - end;
    }
    rest.push(chunk.subarray(end));
  }
  yield fillUsagesOf(Buffer.concat(rest));
}

/** @param lines Whole lines, so no character is cut. */
function fillUsagesOf(lines: Buffer): Uint8Array {
  if (!lines.includes('"message_start"') && !lines.includes('"message_delta"')) return lines;
  const text = lines.toString();
  const filled = text.split('\n').map(fillUsage).join('\n');
  return filled === text ? lines : Buffer.from(filled);
}

function fillUsage(line: string): string {
  if (!/^data:.*"message_(?:start|delta)"/.test(line)) return line;
  // The SDK itself reports broken JSON.
  const event = parseJson(line.slice('data:'.length));
  if (!isRecord(event)) return line;
  const holder =
    event['type'] === 'message_start'
      ? event['message']
      : event['type'] === 'message_delta'
        ? event
        : null;
  if (!isRecord(holder) || isRecord(holder['usage'])) return line;
  holder['usage'] = {};
  return `data: ${JSON.stringify(event)}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
