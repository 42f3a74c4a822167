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
}

/**
 * Sits between the socket and the SDK.
 *
 * - Counts bytes, so that the watchdog sees a stream that only pings as alive.
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
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          facts.bodyBytes += chunk.byteLength;
          events.onBytes();
          controller.enqueue(chunk);
        },
      }),
    );
    const isStream = facts.contentType?.startsWith('text/event-stream') === true;
    return new Response(isStream ? body.pipeThrough(createUsageFiller()) : body, response);
  };
}

/** Passes an event stream on line by line, and changes only lines that lack fields which the SDK needs. */
function createUsageFiller(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      const text = lines.map((line) => `${fillUsage(line)}\n`).join('');
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
    flush(controller) {
      const text = rest + decoder.decode();
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
  });
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
