import { formatApiError, statusOf } from './api-error.ts';
import type { Exchange } from './exchange.ts';
import { buildEvents, formatEvent } from './message-events.ts';
import type { StreamEvent } from './message-events.ts';
import type { ReplyMessage } from '../messages-api.ts';
import type { CutReply, SseErrorReply, StallReply } from '../script.ts';

const jsonHeaders = { 'content-type': 'application/json' } as const;
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

/** A composed reply with its timing. */
export interface Delivery {
  readonly message: ReplyMessage;
  readonly stream: boolean;
  /** Milliseconds over which a stream is spread, or before a whole reply. */
  readonly thinkMs: number;
}

async function sendEvents(
  exchange: Exchange,
  events: readonly StreamEvent[],
  pauseMs: number,
): Promise<void> {
  for (const event of events) {
    if (event.takesTime) await exchange.pause(pauseMs);
    await exchange.write(formatEvent(event));
  }
}

/** Computes the pause before each piece of text, so that all of them together take `thinkMs`. */
function computePauseMs(events: readonly StreamEvent[], thinkMs: number): number {
  return thinkMs / Math.max(1, events.filter((event) => event.takesTime).length);
}

/** Sends a reply without faults, like the API. */
export async function deliverWhole(exchange: Exchange, delivery: Delivery): Promise<void> {
  if (!delivery.stream) {
    await exchange.pause(delivery.thinkMs);
    exchange.send(200, jsonHeaders, JSON.stringify(delivery.message));
    return;
  }
  const events = buildEvents(delivery.message);
  await exchange.sendHead(200, streamHeaders);
  await sendEvents(exchange, events.slice(0, -1), computePauseMs(events, delivery.thinkMs));
  exchange.finish(events.slice(-1).map(formatEvent).join(''), 'answered');
}

/** Sends headers and the first part of a reply, and leaves the response open. */
async function deliverPart(
  exchange: Exchange,
  delivery: Delivery,
  afterEvents: number | undefined,
): Promise<void> {
  if (!delivery.stream) {
    const body = JSON.stringify(delivery.message);
    await exchange.sendHead(200, jsonHeaders);
    await exchange.write(body.slice(0, Math.ceil(body.length / 2)));
    return;
  }
  const events = buildEvents(delivery.message);
  const count = Math.min(afterEvents ?? Math.ceil(events.length / 2), events.length - 1);
  await exchange.sendHead(200, streamHeaders);
  await sendEvents(exchange, events.slice(0, count), computePauseMs(events, delivery.thinkMs));
}

const headersOf = (delivery: Delivery): Readonly<Record<string, string>> =>
  delivery.stream ? streamHeaders : jsonHeaders;

/** Ends a reply early, at the point that the script names. */
export async function deliverCut(
  exchange: Exchange,
  delivery: Delivery,
  reply: CutReply,
): Promise<void> {
  if (reply.cut === 'after-headers') await exchange.sendHead(200, headersOf(delivery));
  if (reply.cut === 'mid-stream' || reply.cut === 'eof-without-stop') {
    await deliverPart(exchange, delivery, reply.afterEvents);
  }
  if (reply.cut === 'eof-without-stop') exchange.finish('', 'cut');
  else exchange.cut();
}

/** Falls silent at the point that the script names, until the client disconnects. */
export async function deliverStall(
  exchange: Exchange,
  delivery: Delivery,
  reply: StallReply,
): Promise<void> {
  if (reply.stall === 'after-headers') await exchange.sendHead(200, headersOf(delivery));
  if (reply.stall === 'in-stream') await deliverPart(exchange, delivery, reply.afterEvents);
  await exchange.stall();
}

/** Sends an `error` event after the first part of a stream, or an HTTP error when nothing is streamed. */
export async function deliverStreamError(
  exchange: Exchange,
  delivery: Delivery,
  reply: SseErrorReply,
): Promise<void> {
  const data = formatApiError(reply.sseError, exchange.requestId);
  if (!delivery.stream) {
    exchange.send(statusOf(reply.sseError.type), jsonHeaders, data);
    return;
  }
  await deliverPart(exchange, delivery, reply.afterEvents);
  exchange.finish(formatEvent({ event: 'error', data }), 'answered');
}
