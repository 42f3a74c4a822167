import type { ContentBlock } from '../../contracts/transcript.ts';
import { ModelAborted } from '../ports/model-client.ts';
import type {
  ModelClient,
  ModelProgress,
  ModelRequest,
  ReadableTail,
} from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';
import { createReadableText } from './readable-text.ts';
import { createSettledText } from './settled-text.ts';

/** Characters that are shown. */
const lastWordsMaxLength = 120;

/** Characters that are kept of a call that was cancelled. */
const keptWordsMaxLength = 8_000;

/** Milliseconds between two looks at a stream: a heartbeat tells of one in a second, and a look costs a tenth of one. */
const lookEveryMs = 250;

/**
 * A model whose replies hold no secret, and whose progress shows none, whole or in part: whatever is cut, stored or sent
 * later is cut from redacted texts.
 *
 * @param nowMs a clock that only goes forward. Default: this process's.
 */
export function redactModel(
  model: ModelClient,
  redactor: Redactor,
  nowMs: () => number = () => performance.now(),
): ModelClient {
  return {
    async complete(request, { signal, onProgress }) {
      const watch = watchStream(request, redactor, nowMs);
      try {
        const reply = await model.complete(request, {
          signal,
          onProgress: (progress) => onProgress(watch.take(progress)),
        });
        const content = reply.content.flatMap((block) => redactBlock(block, redactor));
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
      return [{ ...block, text: redactor.redactText(block.text, 'reply') }];
    case 'tool_use':
      return [{ ...block, input: redactor.redactValue(block.input, 'reply') }];
    case 'tool_result':
      return [{ ...block, content: redactor.redactText(block.content, 'reply') }];
    case 'opaque':
      // The provider signs them: one that was changed is refused, one that is missing is not.
      return redactor.redactValue(block.raw, 'reply') === block.raw ? [block] : [];
  }
  return [];
}

/** What may be shown of one stream. */
interface StreamWatch {
  take(progress: ModelProgress): ModelProgress;
  /** Of a stream that was cut: its last words, those that people can read where there are any. */
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
 * The end of a stream may hold half a secret that no rule knows yet, so the word that is still being written is not
 * shown.
 *
 * @param tail the end of a stream; long enough for a private key, so that one is seen with its first line.
 */
function pickLastWords(tail: string, redactor: Redactor, charsMax: number): string {
  const whole = redactor
    .redactText(tail, 'progress')
    .replace(/(?<!\S)\S+$/, '')
    .trimEnd();
  if (whole.length <= charsMax) return whole;
  return whole.slice(-charsMax).replace(/^\S*\s+/, '');
}
