import { createHash } from 'node:crypto';
import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock, Message } from '../../../contracts/transcript.ts';
import type { ModelRequest, SystemBlock } from '../../ports/model-client.ts';
import { RequestRefused, toOutputFormat, toTool } from './json-schemas.ts';

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
    messages: request.messages.flatMap(toMessage),
    metadata: { user_id: toUserId(request.callKey) },
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...(request.output !== undefined && {
      output_config: { format: toOutputFormat(request.output) },
    }),
  };
}

function toSystemBlock(block: SystemBlock): Anthropic.TextBlockParam {
  return {
    type: 'text',
    text: block.text,
    ...(block.cacheBreakpoint && { cache_control: { type: 'ephemeral' as const } }),
  };
}

/**
 * The API answers 400 to an empty text block and to a message without content, and `end_turn` may come without either.
 * Such blocks and messages say nothing, so they are left out; the API joins neighbours of the same role.
 */
function toMessage(message: Message): Anthropic.MessageParam[] {
  const content = message.content
    .filter((block) => block.type !== 'text' || block.text !== '')
    .map(toContentBlock);
  return content.length > 0 ? [{ role: message.role, content }] : [];
}

function toContentBlock(block: ContentBlock): Anthropic.ContentBlockParam {
  if (block.type !== 'opaque') return block;
  if (!isProviderBlock(block.raw)) {
    throw new RequestRefused('An opaque block of the conversation is no content block of the API.');
  }
  return block.raw;
}

/** What the provider sent goes back to the provider unchanged: beyond having a type, its shape is none of ours. */
function isProviderBlock(raw: unknown): raw is Anthropic.ContentBlockParam {
  return typeof raw === 'object' && raw !== null && 'type' in raw && typeof raw.type === 'string';
}

function toUserId(callKey: string): string {
  if (callKey.length <= userIdMaxLength) return callKey;
  return createHash('sha256').update(callKey).digest('hex');
}
