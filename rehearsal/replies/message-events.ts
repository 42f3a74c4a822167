import { textOf } from '../json.ts';
import type { Block, ReplyMessage } from '../messages-api.ts';

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
    case 'text':
      return [{ ...block, text: '' }, createDeltas('text_delta', 'text', textOf(block['text']))];
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
