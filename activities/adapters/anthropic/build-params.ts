import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ModelRequest, SystemBlock } from '../../ports/model-client.ts';
import { isRecord } from '../../../core/is-record.ts';
import { hashBytes } from '../../text/bytes.ts';
import { readArguments } from '../../tools/read-arguments.ts';
import { RequestRefused, toBareFormat, toOutputFormat, toTool } from './json-schemas.ts';

/** The longest `metadata.user_id` that the API takes, in characters. */
const userIdMaxLength = 256;

/**
 * The body of a Messages API call.
 *
 * Holds no sampling parameters, no forced tool choice, no prefill and no thinking switch: models of the 5.5 generation
 * answer 400 to each of them.
 *
 * @throws {RequestRefused} when a tool or the output has a schema that can't be sent.
 */
export function buildParams(request: ModelRequest): Anthropic.MessageStreamParams {
  const system = request.system.filter((block) => block.text !== '').map(toSystemBlock);
  const tools = request.tools.map(toTool);
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    messages: toMessages(request),
    metadata: { user_id: toUserId(request.callKey) },
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...formatOf(request),
  };
}

function formatOf({
  output,
  outputForm,
}: ModelRequest): Pick<Anthropic.MessageStreamParams, 'output_config'> {
  if (output === undefined || outputForm === 'unasked') return {};
  const format = outputForm === 'bare' ? toBareFormat(output) : toOutputFormat(output);
  return { output_config: { format } };
}

function toSystemBlock(block: SystemBlock): Anthropic.TextBlockParam {
  return {
    type: 'text',
    text: block.text,
    ...(block.cacheBreakpoint && ephemeral),
  };
}

const ephemeral = { cache_control: { type: 'ephemeral' } } as const;

/**
 * The API answers 400 to an empty text block and to a message without content, and `end_turn` may come without either.
 * Such blocks and messages say nothing, so they are left out; the API joins neighbours of the same role.
 */
function toMessages({ messages, cachesConversation }: ModelRequest): Anthropic.MessageParam[] {
  const sent = messages
    .map(({ role, content }) => ({ role, content: content.filter(saysSomething) }))
    .filter(({ content }) => content.length > 0);
  // Where this call ends, and where the one before it ended: the API looks back from a breakpoint for 20 blocks only.
  const ends = cachesConversation === true ? [sent.at(-1), sent.at(-3)] : [];
  const marked = new Set(ends.map((message) => message?.content.at(-1)));
  return sent.map(({ role, content }) => ({
    role,
    content: content.map((block) => toContentBlock(block, marked.has(block))),
  }));
}

function saysSomething(block: ContentBlock): boolean {
  return block.type !== 'text' || block.text !== '';
}

/** @param isMarked whether a cache breakpoint is wanted. The provider's own blocks can't have one. */
function toContentBlock(block: ContentBlock, isMarked: boolean): Anthropic.ContentBlockParam {
  if (block.type === 'opaque') return toProviderBlock(block.raw);
  const { cache_breakpoint, ...sent } = { cache_breakpoint: isMarked, ...block };
  if (sent.type === 'tool_use') {
    const input = toArguments(sent.input);
    return { ...sent, input, ...(cache_breakpoint && ephemeral) };
  }
  return { ...sent, ...(cache_breakpoint && ephemeral) };
}

/** The API takes back only objects, also where a model sent something else. */
function toArguments(input: unknown): Record<string, unknown> {
  const args = readArguments(input);
  return isRecord(args) ? args : { arguments: args };
}

function toProviderBlock(raw: unknown): Anthropic.ContentBlockParam {
  if (isProviderBlock(raw)) return raw;
  throw new RequestRefused('An opaque block of the conversation is no content block of the API.');
}

/** What the provider sent goes back to the provider unchanged: beyond having a type, its shape is none of ours. */
function isProviderBlock(raw: unknown): raw is Anthropic.ContentBlockParam {
  return typeof raw === 'object' && raw !== null && 'type' in raw && typeof raw.type === 'string';
}

function toUserId(callKey: string): string {
  if (callKey.length <= userIdMaxLength) return callKey;
  return hashBytes(callKey);
}
