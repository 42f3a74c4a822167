import { type ReplyMessage, textOf } from '../messages-api.ts';
import type {
  ContentReply,
  CutReply,
  ErrorReply,
  RawReply,
  Reply,
  SseErrorReply,
  StallReply,
} from '../script.ts';
import { errorTypeOf, formatApiError, statusOf, type Exchange } from './exchange.ts';
import {
  buildEvents,
  composeMessage,
  formatEvent,
  type Content,
  type MessageParts,
  type StreamEvent,
} from './message.ts';

const jsonHeaders = { 'content-type': 'application/json' } as const;
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

/** A composed reply with its timing. */
interface Delivery {
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
async function deliverWhole(exchange: Exchange, delivery: Delivery): Promise<void> {
  if (!delivery.stream) {
    await exchange.pause(delivery.thinkMs);
    exchange.send(200, jsonHeaders, JSON.stringify(delivery.message));
    return;
  }
  const events = buildEvents(delivery.message);
  await exchange.sendHead(streamHeaders);
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
    await exchange.sendHead(jsonHeaders);
    await exchange.write(body.slice(0, Math.ceil(body.length / 2)));
    return;
  }
  const events = buildEvents(delivery.message);
  const count = Math.min(afterEvents ?? Math.ceil(events.length / 2), events.length - 1);
  await exchange.sendHead(streamHeaders);
  await sendEvents(exchange, events.slice(0, count), computePauseMs(events, delivery.thinkMs));
}

const headersOf = (delivery: Delivery): Readonly<Record<string, string>> =>
  delivery.stream ? streamHeaders : jsonHeaders;

/** Ends a reply early, at the point that the script names. */
async function deliverCut(exchange: Exchange, delivery: Delivery, reply: CutReply): Promise<void> {
  if (reply.cut === 'after-headers') await exchange.sendHead(headersOf(delivery));
  if (reply.cut === 'mid-stream' || reply.cut === 'eof-without-stop') {
    await deliverPart(exchange, delivery, reply.afterEvents);
  }
  if (reply.cut === 'eof-without-stop') exchange.finish('', 'cut');
  else exchange.cut();
}

/** Falls silent at the point that the script names, until the client disconnects. */
async function deliverStall(
  exchange: Exchange,
  delivery: Delivery,
  reply: StallReply,
): Promise<void> {
  if (reply.stall === 'after-headers') await exchange.sendHead(headersOf(delivery));
  if (reply.stall === 'in-stream') await deliverPart(exchange, delivery, reply.afterEvents);
  await exchange.stall();
}

/** Sends an `error` event after the first part of a stream, or an HTTP error when nothing is streamed. */
async function deliverStreamError(
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

interface DeliveryContext extends Omit<MessageParts, 'cutsAtLimit'> {
  /** Composes the reply of the default rules. Called only when it is needed. */
  readonly composeDefault: () => ContentReply;
  /** Called when a reply of the model begins, but not for an error in its place. */
  readonly onBegin: () => void;
  /** Milliseconds; used when the reply names none. */
  readonly thinkMs: number;
}

function sendError(exchange: Exchange, reply: ErrorReply): void {
  const error = {
    type: reply.errorType ?? errorTypeOf(reply.status),
    message: reply.message ?? `Rehearsed status ${reply.status}.`,
    code: reply.errorCode,
  };
  const body =
    reply.body === undefined ? formatApiError(error, exchange.requestId) : textOf(reply.body);
  const usual = body.startsWith('<') ? 'text/html' : 'application/json';
  exchange.send(
    reply.status,
    { 'content-type': reply.contentType ?? usual, ...reply.headers },
    body,
  );
}

function contentTypeOf(raw: string): string {
  if (raw.startsWith('{')) return 'application/json';
  return raw.startsWith('event:') ? 'text/event-stream' : 'text/html';
}

function sendRaw(exchange: Exchange, reply: RawReply): void {
  const contentType = reply.contentType ?? contentTypeOf(reply.raw);
  exchange.send(reply.status ?? 200, { 'content-type': contentType, ...reply.headers }, reply.raw);
}

const hasContent = (reply: Content): boolean =>
  [reply.text, reply.json, reply.tool_use, reply.content].some((field) => field !== undefined);

/** Sends `reply` of any kind. Rejects with `ClientGone` when the client disconnected first. */
export async function deliver(
  reply: Reply,
  exchange: Exchange,
  context: DeliveryContext,
): Promise<void> {
  await exchange.pause(reply.delayMs ?? 0);
  if ('raw' in reply) return sendRaw(exchange, reply);
  if ('status' in reply) return sendError(exchange, reply);
  context.onBegin();
  const usesDefault = 'pass' in reply || !hasContent(reply);
  const { pass: _, ...envelope } = { pass: true, ...reply };
  const content: Content = usesDefault ? { ...context.composeDefault(), ...envelope } : reply;
  const delivery: Delivery = {
    message: composeMessage(content, { ...context, cutsAtLimit: usesDefault }),
    stream: context.request.stream,
    thinkMs: reply.thinkMs ?? context.thinkMs,
  };
  if ('cut' in reply) return deliverCut(exchange, delivery, reply);
  if ('stall' in reply) return deliverStall(exchange, delivery, reply);
  if ('sseError' in reply) return deliverStreamError(exchange, delivery, reply);
  return deliverWhole(exchange, delivery);
}
