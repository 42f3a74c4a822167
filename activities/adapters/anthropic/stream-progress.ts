import type { Anthropic } from '@anthropic-ai/sdk';
import type { ArrivedPiece, ModelProgress, TokenCount } from '../../ports/model-client.ts';
import { countBytes } from '../../text/bytes.ts';
import { readTokens } from './read-message.ts';

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
