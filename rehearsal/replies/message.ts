import {
  type Block,
  type MessagesRequest,
  type ReplyMessage,
  type ReplyUsage,
  dropHalfPair,
  objectsOf,
  textOf,
} from '../messages-api.ts';
import type { ContentReply, CutReply, SseErrorReply, StallReply } from '../script.ts';
import { countOutputTokens, countTokens } from './accounting.ts';

/** A reply with content of the model. */
export type Content = ContentReply | CutReply | StallReply | SseErrorReply;

export interface MessageParts {
  readonly request: MessagesRequest;
  /** Number of the call, from 1: the ids of message and tool calls contain it. */
  readonly index: number;
  readonly input: Omit<ReplyUsage, 'output_tokens'>;
  /** Cuts a text at `max_tokens`, like the model; scripted replies are sent unchanged. */
  readonly cutsAtLimit: boolean;
}

/** Returns an id such as `msg_rehearsal_000001`. */
export function createId(kind: string, index: number): string {
  return `${kind}_rehearsal_${String(index).padStart(6, '0')}`;
}

function blocksOf(content: Content, index: number): readonly Block[] {
  const text = content.json !== undefined ? JSON.stringify(content.json) : (content.text ?? '');
  const calls = (content.tool_use ?? []).map((call, place) => ({
    type: 'tool_use',
    id: `${createId('toolu', index)}_${place + 1}`,
    name: call.name,
    input: call.input,
  }));
  return [
    ...(content.content ?? []),
    ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
    ...calls,
  ];
}

/** Cuts a single text at this number of tokens; undefined when nothing has to be cut. */
function cutAtLimit(blocks: readonly Block[], tokensMax: number): readonly Block[] | undefined {
  const [block] = blocks;
  if (blocks.length !== 1 || block?.type !== 'text') return undefined;
  const text = String(block['text']);
  if (countTokens(text) <= tokensMax) return undefined;
  const bytes = Buffer.from(text).subarray(0, tokensMax * 4);
  const cut = dropHalfPair(bytes.toString('utf8').replace(/(?<!\uFFFD)\uFFFD+$/u, ''));
  return [{ ...block, text: cut }];
}

function usageOf(
  content: Content,
  parts: MessageParts,
  blocks: readonly Block[],
): Partial<ReplyUsage> {
  const uses = (name: string): number =>
    blocks.filter((one) => one.type === 'server_tool_use' && one['name'] === name).length;
  const used = { web_search_requests: uses('web_search'), web_fetch_requests: uses('web_fetch') };
  return {
    ...parts.input,
    output_tokens: countOutputTokens(blocks),
    ...(used.web_search_requests + used.web_fetch_requests > 0 && { server_tool_use: used }),
    ...content.usage,
  };
}

/** Composes the whole reply message with ids, stop reason and usage. */
export function composeMessage(content: Content, parts: MessageParts): ReplyMessage {
  const whole = blocksOf(content, parts.index);
  const cut = parts.cutsAtLimit ? cutAtLimit(whole, parts.request.maxTokens) : undefined;
  const usual = (content.tool_use?.length ?? 0) > 0 ? 'tool_use' : 'end_turn';
  const blocks = cut ?? whole;
  return {
    id: createId('msg', parts.index),
    type: 'message',
    role: 'assistant',
    model: content.model ?? parts.request.model,
    content: blocks,
    container: null,
    diagnostics: null,
    stop_reason: content.stop_reason ?? (cut === undefined ? usual : 'max_tokens'),
    stop_sequence: content.stop_sequence ?? null,
    stop_details: content.stop_details ?? null,
    ...(content.usage === null ? {} : { usage: usageOf(content, parts, blocks) }),
  };
}

/** One server-sent event of a streamed reply. */
export interface StreamEvent {
  readonly event: string;
  /** JSON text. */
  readonly data: string;
  /** True when the model "thinks" before it: for every piece of text. */
  readonly takesTime: boolean;
}

/** Length of a piece of text in UTF-16 units, unless that would make too many pieces. */
const pieceLength = 60;
const piecesMax = 24;

function createEvent(event: string, fields: object = {}, takesTime = false): StreamEvent {
  return { event, data: JSON.stringify({ type: event, ...fields }), takesTime };
}

/** Splits a text into pieces of about equal length that never split a surrogate pair. */
function splitText(text: string): readonly string[] {
  const length = Math.max(pieceLength, Math.ceil(text.length / piecesMax));
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const cut = start + length;
    const splitsPair = /[\uDC00-\uDFFF]/u.test(text[cut] ?? '');
    const end = splitsPair ? cut + 1 : cut;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function createDeltas(type: string, field: string, text: string): readonly object[] {
  return splitText(text).map((piece) => ({ type, [field]: piece }));
}

/** Returns the block at its start, and the deltas that fill it. Unknown types are complete at their start. */
function openBlock(block: Block): readonly [Block, readonly object[]] {
  switch (block.type) {
    case 'text': {
      const citations = objectsOf(block['citations']);
      const cited = citations.map((citation) => ({ type: 'citations_delta', citation }));
      const texts = createDeltas('text_delta', 'text', textOf(block['text']));
      const opened = { ...block, text: '', ...(citations.length > 0 && { citations: [] }) };
      return [opened, [...texts, ...cited]];
    }
    case 'server_tool_use':
    case 'tool_use': {
      const input = JSON.stringify(block['input'] ?? {});
      const pieces = createDeltas('input_json_delta', 'partial_json', input);
      return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json: '' }, ...pieces]];
    }
    case 'thinking': {
      const signature = { type: 'signature_delta', signature: textOf(block['signature']) };
      const thinking = createDeltas('thinking_delta', 'thinking', textOf(block['thinking']));
      return [{ ...block, thinking: '', signature: '' }, [...thinking, signature]];
    }
    default:
      return [block, []];
  }
}

/**
 * Converts a reply to the events of a stream, in the API's order.
 *
 * A reply without usage gets empty `usage` objects: the SDK writes into `message.usage` while it reads, so a stream
 * without the object would break it.
 */
export function buildEvents(message: ReplyMessage): readonly StreamEvent[] {
  const { usage } = message;
  const started = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage:
      usage === undefined
        ? {}
        : { ...usage, ...('output_tokens' in usage && { output_tokens: 1 }) },
  };
  const events = [createEvent('message_start', { message: started })];
  for (const [index, block] of message.content.entries()) {
    const [opened, deltas] = openBlock(block);
    events.push(createEvent('content_block_start', { index, content_block: opened }));
    if (index === 0) events.push(createEvent('ping'));
    for (const delta of deltas) {
      events.push(createEvent('content_block_delta', { index, delta }, true));
    }
    events.push(createEvent('content_block_stop', { index }));
  }
  const delta = {
    stop_reason: message.stop_reason,
    stop_sequence: message.stop_sequence,
    stop_details: message.stop_details,
    container: null,
  };
  events.push(createEvent('message_delta', { delta, usage: usage ?? {} }));
  events.push(createEvent('message_stop'));
  return events;
}

/** Formats the event for the wire. */
export function formatEvent(event: Pick<StreamEvent, 'event' | 'data'>): string {
  return `event: ${event.event}\ndata: ${event.data}\n\n`;
}
