import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ModelReply, TokenCount } from '../../ports/model-client.ts';

/**
 * The reply in a final message of the SDK, or null when it is no message. The SDK's types promise a message, but it
 * resolves to whatever the server sent.
 *
 * @param requestId from the response headers; the SDK's own copy is not enumerable and gets lost in JSON.
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

/** The token counts of a `usage` object, or null when it does not tell both input and output. */
export function readTokens(usage: unknown): TokenCount | null {
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
  };
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

/** The explanation of a refusal, or its category where there is no more. */
function readRefusal({ stop_reason, stop_details }: MessageEnvelope): Pick<ModelReply, 'refusal'> {
  if (stop_reason !== 'refusal' || !isRecord(stop_details)) return {};
  const { explanation, category } = stop_details;
  if (typeof explanation === 'string' && explanation.trim() !== '') return { refusal: explanation };
  return typeof category === 'string' ? { refusal: `Its category is "${category}".` } : {};
}

function toContentBlock(block: Anthropic.ContentBlock): ContentBlock {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'tool_use') {
    return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
  }
  // The SDK builds some blocks with getters and hidden buffers; what is stored must be plain JSON.
  return { type: 'opaque', raw: JSON.parse(JSON.stringify(block)) as unknown };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
