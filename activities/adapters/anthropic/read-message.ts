import { isRecord } from '../../../core/json.ts';
import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import type {
  ModelReply,
  TokenCount,
  ArrivedPiece,
  ModelProgress,
} from '../../ports/model-client.ts';
import { countBytes } from '../../text/bytes.ts';

/**
 * Reads the reply in a final message of the SDK, or returns null when it is no message. The SDK's types promise a
 * message, but it resolves to anything that the server sent.
 *
 * @param requestId From the response headers; the SDK's own copy is not enumerable and is lost in JSON.
 */
export function readMessage(message: unknown, requestId: string | null): ModelReply | null {
  if (!isMessage(message)) return null;
  return {
    content: message.content.map(toContentBlock),
    stopReason: message.stop_reason,
    ...readRefusal(message),
    tokens: readTokens(message.usage),
    requestId,
    model: message.model,
  };
}

/** Reads the token counts of a `usage` object, or returns null when input or output is missing. */
function readTokens(usage: unknown): TokenCount | null {
  if (!isRecord(usage)) return null;
  const { input_tokens, output_tokens } = usage;
  if (!isCount(input_tokens) || !isCount(output_tokens)) return null;
  const written = usage['cache_creation_input_tokens'];
  const read = usage['cache_read_input_tokens'];
  return {
    inputTokens: input_tokens,
    cacheCreationInputTokens: isCount(written) ? written : 0,
    cacheReadInputTokens: isCount(read) ? read : 0,
    outputTokens: output_tokens,
    ...readSearches(usage['server_tool_use']),
  };
}

function readSearches(used: unknown): Pick<TokenCount, 'webSearches'> {
  const webSearches = isRecord(used) ? used['web_search_requests'] : undefined;
  return isCount(webSearches) && webSearches > 0 ? { webSearches } : {};
}

interface MessageEnvelope {
  readonly content: readonly Anthropic.ContentBlock[];
  readonly stop_reason: string;
  readonly stop_details?: unknown;
  readonly model: string;
  readonly usage: unknown;
}

function isMessage(value: unknown): value is MessageEnvelope {
  return (
    isRecord(value) &&
    value['type'] === 'message' &&
    value['role'] === 'assistant' &&
    typeof value['model'] === 'string' &&
    typeof value['stop_reason'] === 'string' &&
    Array.isArray(value['content']) &&
    value['content'].every((block) => isRecord(block) && typeof block['type'] === 'string')
  );
}

/** Returns the explanation of a refusal, or its category when there is no explanation. */
function readRefusal({ stop_reason, stop_details }: MessageEnvelope): Pick<ModelReply, 'refusal'> {
  if (stop_reason !== 'refusal' || !isRecord(stop_details)) return {};
  const { explanation, category } = stop_details;
  if (typeof explanation === 'string' && explanation.trim() !== '') return { refusal: explanation };
  return typeof category === 'string' ? { refusal: `Its category is "${category}".` } : {};
}

function toContentBlock(block: Anthropic.ContentBlock): ContentBlock {
  if (block.type === 'text') {
    const citations = toJson(block.citations ?? []);
    return { type: 'text', text: block.text, ...(citations.length > 0 && { citations }) };
  }
  if (block.type === 'tool_use') {
    return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
  }
  // The SDK builds some blocks with getters and hidden buffers; the store needs plain JSON.
  return { type: 'opaque', raw: JSON.parse(JSON.stringify(block)) as unknown };
}

/** Copies a list as plain JSON: the SDK builds some blocks with getters. */
function toJson(list: readonly unknown[]): unknown[] {
  const copy: unknown = JSON.parse(JSON.stringify(list));
  return Array.isArray(copy) ? copy : [];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Length that holds a private key with its first line, by which it is recognised. */
const lastWordsMaxLength = 8_000;
/**
 * Bytes of one token, for the part of a reply that the provider has not counted yet. English has about four, code and
 * other scripts about three: rather a little too much is counted than too little.
 */
const bytesPerToken = 3;

/** State of a reply while it streams. */
export interface StreamProgress {
  /** Adds one event with the message after it. */
  add(event: Anthropic.MessageStreamEvent, snapshot: Anthropic.Message): void;
  progress(): ModelProgress;
  /**
   * Returns the counts so far, or null while the reply has not begun. The provider counts the output at its end; until
   * then the count is estimated from what has arrived.
   */
  tokens(): TokenCount | null;
  /** Returns the answering model, or null while the reply has not begun. */
  model(): string | null;
}

export function createStreamProgress(): StreamProgress {
  /** Bytes since the provider's last count. */
  let bytes = 0;
  let tail = '';
  let arrived: ArrivedPiece | undefined;
  let tokens: TokenCount | null = null;
  let model: string | null = null;
  const outputTokens = (): number => (tokens?.outputTokens ?? 0) + Math.ceil(bytes / bytesPerToken);
  return {
    add: (event, snapshot) => {
      const text = readDelta(event);
      bytes += countBytes(text);
      tail = (tail + text).slice(-lastWordsMaxLength);
      arrived = readPiece(event);
      // The SDK goes on writing into the snapshot, so the counts are copied.
      if (event.type === 'message_start' || event.type === 'message_delta') {
        tokens = readTokens(snapshot.usage);
        model = snapshot.model;
        bytes = 0;
      }
    },
    progress: () => ({
      outputTokens: outputTokens(),
      lastWords: tail,
      ...(arrived !== undefined && { arrived }),
    }),
    tokens: () => tokens && { ...tokens, outputTokens: outputTokens() },
    model: () => model,
  };
}

/** Returns only readable text, not thinking and signatures. */
function readPiece(event: Anthropic.MessageStreamEvent): ArrivedPiece | undefined {
  if (event.type !== 'content_block_delta') return undefined;
  const { index: block, delta } = event;
  if (delta.type === 'text_delta') return { block, kind: 'text', text: delta.text };
  if (delta.type !== 'input_json_delta') return undefined;
  return { block, kind: 'arguments', text: delta.partial_json };
}

function readDelta(event: Anthropic.MessageStreamEvent): string {
  if (event.type !== 'content_block_delta') return '';
  const { delta } = event;
  if (delta.type === 'text_delta') return delta.text;
  if (delta.type === 'thinking_delta') return delta.thinking;
  return delta.type === 'input_json_delta' ? delta.partial_json : '';
}
