import type { ContentBlock } from '../../contracts/transcript.ts';
import type { ModelClient, ModelProgress } from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';

/** Characters that are shown. */
const lastWordsMaxLength = 120;

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
      const pick = createLastWords(redactor, nowMs);
      const reply = await model.complete(request, {
        signal,
        onProgress: ({ outputTokens, lastWords }: ModelProgress) =>
          onProgress({ outputTokens, lastWords: pick(lastWords) }),
      });
      return { ...reply, content: reply.content.flatMap((block) => redactBlock(block, redactor)) };
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

/**
 * The end of a stream may hold half a secret that no rule knows yet, so the word that is still being written is not
 * shown.
 */
function createLastWords(redactor: Redactor, nowMs: () => number): (tail: string) => string {
  let shown = '';
  let lookAgainMs = -Infinity;
  return (tail) => {
    const now = nowMs();
    if (now < lookAgainMs) return shown;
    lookAgainMs = now + lookEveryMs;
    shown = pickLastWords(tail, redactor);
    return shown;
  };
}

/** @param tail the end of a stream; long enough for a private key, so that one is seen with its first line. */
function pickLastWords(tail: string, redactor: Redactor): string {
  const whole = redactor.redactText(tail, 'progress').replace(/\S+$/, '').trimEnd();
  if (whole.length <= lastWordsMaxLength) return whole;
  return whole.slice(-lastWordsMaxLength).replace(/^\S*\s+/, '');
}
