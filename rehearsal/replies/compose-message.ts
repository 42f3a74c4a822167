import { countOutputTokens, countTokens } from './accounting.ts';
import type { Block, MessagesRequest, ReplyMessage, ReplyUsage } from '../messages-api.ts';
import { dropHalfPair } from '../quote.ts';
import type { ContentReply, CutReply, SseErrorReply, StallReply } from '../script.ts';

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
  return { ...parts.input, output_tokens: countOutputTokens(blocks), ...content.usage };
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
