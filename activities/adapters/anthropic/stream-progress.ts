import type { Anthropic } from '@anthropic-ai/sdk';
import type { ArrivedPiece, ModelProgress, TokenCount } from '../../ports/model-client.ts';
import { readTokens } from './read-message.ts';

/** Length that holds a private key with its first line, by which it is recognised. */
const lastWordsMaxLength = 8_000;
/** Rule of thumb for English; only displayed, never billed. */
const charactersPerToken = 4;

/** State of a reply while it streams. */
export interface StreamProgress {
  /** Adds one event with the message after it. */
  add(event: Anthropic.MessageStreamEvent, snapshot: Anthropic.Message): void;
  progress(): ModelProgress;
  /** Returns the counts so far, or null while the reply has not begun. */
  tokens(): TokenCount | null;
  /** Returns the answering model, or null while the reply has not begun. */
  model(): string | null;
}

export function createStreamProgress(): StreamProgress {
  let characters = 0;
  let tail = '';
  let arrived: ArrivedPiece | undefined;
  let tokens: TokenCount | null = null;
  let model: string | null = null;
  return {
    add: (event, snapshot) => {
      const text = readDelta(event);
      characters += text.length;
      tail = (tail + text).slice(-lastWordsMaxLength);
      arrived = readPiece(event);
      // The SDK goes on writing into the snapshot, so the counts are copied.
      if (event.type === 'message_start' || event.type === 'message_delta') {
        tokens = readTokens(snapshot.usage);
        model = snapshot.model;
      }
    },
    progress: () => ({
      outputTokens: Math.max(tokens?.outputTokens ?? 0, Math.ceil(characters / charactersPerToken)),
      lastWords: tail,
      ...(arrived !== undefined && { arrived }),
    }),
    tokens: () => tokens,
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
