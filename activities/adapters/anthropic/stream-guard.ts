import type { Middleware } from '@anthropic-ai/sdk';

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

/** Longest line of an event stream, in characters: a gateway that never ends one would fill the memory. */
const lineCharsMax = 8 * 1024 * 1024;

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
    // A generator costs a third of the processor time of a TransformStream.
    return new Response(ReadableStream.from(isStream ? fillUsages(body, events) : body), response);
  };
}

async function* countBytes(
  body: AsyncIterable<Uint8Array>,
  facts: ResponseFacts,
  events: GuardEvents,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    facts.bodyBytes += chunk.byteLength;
    if (facts.bodyBytes > bodyBytesMax) return events.onTooLarge();
    events.onBytes();
    yield chunk;
  }
}

/** Passes an event stream on line by line, and changes only lines that lack fields which the SDK needs. */
async function* fillUsages(
  body: AsyncIterable<Uint8Array>,
  events: GuardEvents,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const encoder = new TextEncoder();
  let rest = '';
  for await (const chunk of body) {
    // Only the new part is searched for line ends: a long line would be searched again with each of its chunks.
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    rest += first;
    if (rest.length > lineCharsMax) return events.onTooLarge();
    if (others.length === 0) continue;
    const lines = [rest, ...others.slice(0, -1)];
    rest = others.at(-1) ?? '';
    yield encoder.encode(lines.map((line) => `${fillUsage(line)}\n`).join(''));
  }
  yield encoder.encode(rest + decoder.decode());
}

function fillUsage(line: string): string {
  if (!/^data:.*"message_(?:start|delta)"/.test(line)) return line;
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

/** Returns undefined for broken JSON, which the SDK reports itself. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
