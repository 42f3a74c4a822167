import type { TurnReply } from '../../contracts/model-turn.ts';
import type { ContentBlock, ToolUseBlock } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { ModelReply } from '../ports/model-client.ts';

/** Maximum characters of a refusal that go into history. */
const refusalTextMax = 2_000;

export type ReplyClass =
  /** Final text, to be read in the requested shape. */
  | { readonly type: 'final'; readonly text: string }
  /** `text` is the text beside the calls, and may be empty. */
  | { readonly type: 'tools'; readonly calls: readonly ToolUseBlock[]; readonly text: string }
  | { readonly type: 'paused' }
  /** Nothing of it may be sent back: the conversation continues without it. */
  | { readonly type: 'dropped'; readonly reply: TurnReply };

/** Sorts a reply by its stop reason. A reply that was cut off is never read. */
export function classifyReply(
  reply: Pick<ModelReply, 'content' | 'stopReason' | 'refusal'>,
): ReplyClass {
  switch (reply.stopReason) {
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return classifyWhole(reply.content);
    case 'pause_turn':
      return reply.content.length > 0 ? { type: 'paused' } : drop({ type: 'empty' });
    case 'max_tokens':
      return drop({ type: 'truncated' });
    case 'model_context_window_exceeded':
      return drop({ type: 'context_exceeded' });
    case 'refusal':
      return drop({ type: 'refused', text: cutText(describeRefusal(reply), refusalTextMax) });
    default:
      return drop({ type: 'unknown_stop', stop_reason: cutText(reply.stopReason, 100) });
  }
}

/** Classifies a complete reply. Tool calls are answered whatever the stop reason: the API insists on their results. */
function classifyWhole(content: readonly ContentBlock[]): ReplyClass {
  const calls = content.filter((block) => block.type === 'tool_use');
  const text = textOf(content);
  if (calls.length > 0) return { type: 'tools', calls, text };
  return text.trim() === '' ? drop({ type: 'empty' }) : { type: 'final', text };
}

/** Joins what the provider says of the refusal and what the model had written. Empty when neither said anything. */
function describeRefusal({
  content,
  refusal = '',
}: Pick<ModelReply, 'content' | 'refusal'>): string {
  return [refusal, textOf(content)].filter((text) => text.trim() !== '').join('\n');
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function drop(reply: TurnReply): ReplyClass {
  return { type: 'dropped', reply };
}
