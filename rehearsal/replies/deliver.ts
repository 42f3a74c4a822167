import { errorTypeOf, formatApiError } from './api-error.ts';
import { composeMessage } from './compose-message.ts';
import type { Content, MessageParts } from './compose-message.ts';
import { deliverCut, deliverStall, deliverStreamError, deliverWhole } from './deliver-content.ts';
import type { Delivery } from './deliver-content.ts';
import type { Exchange } from './exchange.ts';
import { textOf } from '../json.ts';
import type { ContentReply, ErrorReply, RawReply, Reply } from '../script.ts';

export interface DeliveryContext extends Omit<MessageParts, 'cutsAtLimit'> {
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
