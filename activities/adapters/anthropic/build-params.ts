import type { Anthropic } from '@anthropic-ai/sdk';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import { isRecord } from '../../../core/json.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { ModelRequest, SystemBlock, WebLimits } from '../../ports/model-client.ts';
import { hashBytes, countBytes } from '../../text/bytes.ts';
import { readArguments } from '../../tools/call-tool.ts';
import { computeWorstUsage } from '../prices.ts';
import { RequestRefused, toBareFormat, toOutputFormat, toTool } from './json-schemas.ts';

/** Most characters of `metadata.user_id` that the API accepts. */
const userIdMaxLength = 256;

/**
 * Builds the body of a Messages API call.
 *
 * It has no sampling parameters, no forced tool choice, no prefill and no thinking switch: models of the 5.5 generation
 * answer 400 to each of them.
 *
 * @throws {RequestRefused} when a tool or the output has a schema that can't be sent.
 */
export function buildParams(request: ModelRequest): Anthropic.MessageStreamParams {
  const system = request.system.filter((block) => block.text !== '').map(toSystemBlock);
  const tools = [...request.tools.map(toTool), ...listWebTools(request.web)];
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

/**
 * Lists the provider's own tools. They are called directly, because the default runs code in a container. A fetch opens
 * what the request or a search named.
 */
function listWebTools(web: WebLimits | undefined): Anthropic.ToolUnion[] {
  if (web === undefined) return [];
  const direct = { allowed_callers: ['direct' as const] };
  return [
    {
      type: 'web_search_20260318',
      name: 'web_search',
      max_uses: web.searchesMax,
      ...direct,
    },
    {
      type: 'web_fetch_20260318',
      name: 'web_fetch',
      max_uses: web.fetchesMax,
      max_content_tokens: web.pageTokensMax,
      citations: { enabled: true },
      url_sources: {
        user_input: { type: 'all' },
        client_tool_results: { type: 'none' },
        server_tool_results: { type: 'all' },
      },
      ...direct,
    },
  ];
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
 * Drops empty text blocks and messages without content: the API answers 400 to them, and `end_turn` may come with
 * either. The API joins neighbours of the same role.
 */
function toMessages({ messages, cachesConversation }: ModelRequest): Anthropic.MessageParam[] {
  const sent = messages
    .map(({ role, content }) => ({
      role,
      content: content.filter((block) => block.type !== 'text' || block.text !== ''),
    }))
    .filter(({ content }) => content.length > 0);
  // The end of this call and of the one before it: the API looks back only 20 blocks from a breakpoint.
  const ends = cachesConversation === true ? [sent.at(-1), sent.at(-3)] : [];
  const marked = new Set(ends.map((message) => message?.content.at(-1)));
  return sent.map(({ role, content }) => ({
    role,
    content: content.map((block) => toContentBlock(block, marked.has(block))),
  }));
}

/** @param isMarked True for a cache breakpoint. The provider's own blocks can't have one. */
function toContentBlock(block: ContentBlock, isMarked: boolean): Anthropic.ContentBlockParam {
  if (block.type === 'opaque') return toProviderBlock(block.raw);
  const { cache_breakpoint, ...sent } = { cache_breakpoint: isMarked, ...block };
  if (sent.type === 'tool_use') {
    const input = toArguments(sent.input);
    return { ...sent, input, ...(cache_breakpoint && ephemeral) };
  }
  if (sent.type === 'text') {
    const { citations, ...text } = sent;
    // They go back unchanged, like the blocks that only the provider understands.
    const cited = citations?.filter(isCitation);
    return {
      ...text,
      ...(cited !== undefined && { citations: cited }),
      ...(cache_breakpoint && ephemeral),
    };
  }
  return { ...sent, ...(cache_breakpoint && ephemeral) };
}

/** Wraps arguments that are no object, because the API accepts only objects, whatever the model sent. */
function toArguments(input: unknown): Record<string, unknown> {
  const args = readArguments(input);
  return isRecord(args) ? args : { arguments: args };
}

function toProviderBlock(raw: unknown): Anthropic.ContentBlockParam {
  if (isProviderBlock(raw)) return raw;
  throw new RequestRefused('An opaque block of the conversation is no content block of the API.');
}

/** Checks only for a type, as below. */
function isCitation(raw: unknown): raw is Anthropic.TextCitationParam {
  return isRecord(raw) && typeof raw['type'] === 'string';
}

/** Checks only for a type: the provider's blocks go back to it unchanged. */
function isProviderBlock(raw: unknown): raw is Anthropic.ContentBlockParam {
  return typeof raw === 'object' && raw !== null && 'type' in raw && typeof raw.type === 'string';
}

function toUserId(callKey: string): string {
  if (callKey.length <= userIdMaxLength) return callKey;
  return hashBytes(callKey);
}

/** Tokens that the provider adds to a prompt with tools: its own instructions took up to 700. */
const providerTokens = 1_000;

/** Tokens of the results of one search. The provider names no limit; ten results of a page took less. */
const searchTokens = 10_000;

/**
 * Computes the most that one call may use. No text has more tokens than bytes, so the bytes of the request bound its
 * prompt: about four times too much, but never too little.
 */
export function computeWorst(request: ModelRequest): Usage {
  const { web, model, maxOutputTokens } = request;
  const promptTokens = countReadTokens(measureRequest(request) + providerTokens, request);
  return computeWorstUsage(model, promptTokens, maxOutputTokens, web?.searchesMax);
}

/**
 * Adds up what the model reads. After each use of the provider's own tools it reads everything again, and each reading is
 * billed: most is read when the longest results and all of the reply come first.
 */
function countReadTokens(sentTokens: number, { web, maxOutputTokens }: ModelRequest): number {
  if (web === undefined) return sentTokens;
  const { searchesMax, fetchesMax, pageTokensMax } = web;
  const results = [
    ...Array<number>(searchesMax).fill(searchTokens),
    ...Array<number>(fetchesMax).fill(pageTokensMax),
  ].toSorted((one, other) => other - one);
  const uses = results.length;
  const resultTokens = results.reduce((sum, tokens, before) => sum + tokens * (uses - before), 0);
  return (uses + 1) * sentTokens + resultTokens + uses * maxOutputTokens;
}

function measureRequest(request: ModelRequest): number {
  try {
    return countBytes(JSON.stringify(buildParams(request)));
  } catch (error) {
    // An unsendable request costs nothing; the call reports the reason.
    if (error instanceof RequestRefused) return 0;
    throw error;
  }
}
