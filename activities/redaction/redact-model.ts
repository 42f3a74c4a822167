import type { ContentBlock, TextBlock } from '../../contracts/transcript.ts';
import { isRecord } from '../../core/json.ts';
import {
  ModelAborted,
  type ModelClient,
  type ModelProgress,
  type ModelRequest,
  type ReadableTail,
} from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';
import { createReadableText, createSettledText } from './readable-text.ts';

const lastWordsMaxLength = 120;

/** Most characters of a cancelled call that are kept. */
const keptWordsMaxLength = 8_000;

/**
 * Milliseconds between two redactions of a stream: heartbeats report once a second, and one redaction takes a tenth of
 * a millisecond.
 */
const lookEveryMs = 250;

/**
 * Wraps a model so that its replies hold no secret, and its progress shows none, whole or in part: everything that is
 * cut, stored or sent later comes from redacted texts.
 *
 * @param nowMs A clock that only goes forward. Default: this process's.
 */
export function redactModel(
  model: ModelClient,
  redactor: Redactor,
  nowMs: () => number = () => performance.now(),
): ModelClient {
  return {
    async complete(request, { onProgress, ...options }) {
      const watch = watchStream(request, redactor, nowMs);
      try {
        const reply = await model.complete(request, {
          ...options,
          onProgress: (progress) => onProgress(watch.take(progress)),
        });
        const content = dropHalfPairs(
          reply.content,
          reply.content.flatMap((block) => redactBlock(block, redactor)),
        );
        const { refusal } = reply;
        return {
          ...reply,
          content,
          ...(refusal !== undefined && { refusal: redactor.redactText(refusal, 'reply') }),
        };
      } catch (error) {
        if (!(error instanceof ModelAborted)) throw error;
        throw new ModelAborted(error.model, error.tokens, watch.lastWords());
      }
    },
  };
}

function redactBlock(block: ContentBlock, redactor: Redactor): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [redactText(block, redactor)];
    case 'tool_use':
      return [{ ...block, input: redactor.redactValue(block.input, 'reply') }];
    case 'tool_result':
      return [{ ...block, content: redactor.redactText(block.content, 'reply') }];
    case 'opaque':
      // The provider signs these blocks: it refuses a changed one, but not a missing one.
      return redactor.redactValue(block.raw, 'reply') === block.raw ? [block] : [];
  }
  return [];
}

/** The provider signs citations too, so those with a secret are dropped. */
function redactText({ citations = [], ...block }: TextBlock, redactor: Redactor): TextBlock {
  const kept = citations.filter((one) => redactor.redactValue(one, 'reply') === one);
  const text = redactor.redactText(block.text, 'reply');
  return { ...block, text, ...(kept.length > 0 && { citations: kept }) };
}

/** Drops what belongs to a dropped block: the provider refuses a call without its result, and a result without its call. */
function dropHalfPairs(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly ContentBlock[] {
  if (before.length === after.length) return after;
  const dropped = new Set(before.filter((block) => !after.includes(block)).flatMap(pairOf));
  return after.filter((block) => !pairOf(block).some((id) => dropped.has(id)));
}

/** Returns the id that a call of the provider's own tools shares with its result. */
function pairOf(block: ContentBlock): string[] {
  if (block.type !== 'opaque' || !isRecord(block.raw)) return [];
  const { type, id, tool_use_id } = block.raw;
  const shared = type === 'server_tool_use' ? id : tool_use_id;
  return typeof shared === 'string' ? [shared] : [];
}

/** Visible part of one stream. */
interface StreamWatch {
  take(progress: ModelProgress): ModelProgress;
  /** Returns the last words of a cut stream, from its readable text if there is any. */
  lastWords(): string;
}

function watchStream(
  { output }: Pick<ModelRequest, 'output'>,
  redactor: Redactor,
  nowMs: () => number,
): StreamWatch {
  const read = createReadableText(output === undefined);
  const settled = createSettledText(redactor);
  let raw = '';
  let words = '';
  let readable: ReadableTail = { text: '', chars: 0 };
  let lookAgainMs = -Infinity;
  return {
    take: ({ outputTokens, lastWords, arrived }) => {
      raw = lastWords;
      if (arrived !== undefined) settled.add(read(arrived));
      const now = nowMs();
      if (now >= lookAgainMs) {
        lookAgainMs = now + lookEveryMs;
        words = pickLastWords(raw, redactor, lastWordsMaxLength);
        readable = settled.look();
      }
      return { outputTokens, lastWords: words, ...(readable.chars > 0 && { readable }) };
    },
    lastWords: () => settled.lastWords() || pickLastWords(raw, redactor, keptWordsMaxLength),
  };
}

/**
 * Returns the redacted end of a stream without its last, unfinished word, which may be half a secret that no rule
 * recognises yet.
 *
 * @param tail The end of a stream; long enough for a private key with its first line.
 */
function pickLastWords(tail: string, redactor: Redactor, charsMax: number): string {
  const whole = redactor
    .redactText(tail, 'progress')
    .replace(/(?<!\S)\S+$/, '')
    .trimEnd();
  if (whole.length <= charsMax) return whole;
  return whole.slice(-charsMax).replace(/^\S*\s+/, '');
}
