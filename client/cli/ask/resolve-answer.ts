import type { Question } from '../../../contracts/question.ts';

/** Which question is meant, and what was typed for it. `text` is null when no answer was typed. */
export type AnswerTarget =
  | {
      readonly type: 'questions';
      /** One when it is clear which question is meant, else all that are open. */
      readonly candidates: readonly Question[];
      readonly text: string | null;
    }
  /** Not among the open questions, or nobody could list them: the run decides. */
  | { readonly type: 'id_only'; readonly question_id: string; readonly text: string }
  | { readonly type: 'unclear'; readonly message: string; readonly text: null };

const questionId = /^q[0-9]+$/;

/**
 * Reads the words behind `answer <run>`: `[question_id] [answer…]`.
 *
 * @param open the open questions, or null when no worker could list them
 * @param note why they could not be listed
 */
export function resolveAnswer(
  words: readonly string[],
  open: readonly Question[] | null,
  note: string | null,
): AnswerTarget {
  const [first, ...rest] = words;
  if (first === undefined) return withoutWords(open, note);
  const asked = open?.find((question) => question.question_id === first);
  const text = rest.length === 0 ? null : rest.join(' ');
  if (asked !== undefined) return { type: 'questions', candidates: [asked], text };
  if (questionId.test(first)) {
    return text === null
      ? unclear(describeOpen(open, note))
      : { type: 'id_only', question_id: first, text };
  }
  if (open?.length === 1) return { type: 'questions', candidates: open, text: words.join(' ') };
  return unclear(describeOpen(open, note));
}

function withoutWords(open: readonly Question[] | null, note: string | null): AnswerTarget {
  if (open === null || open.length === 0) return unclear(describeOpen(open, note));
  return { type: 'questions', candidates: open, text: null };
}

function describeOpen(open: readonly Question[] | null, note: string | null): string {
  if (open === null) {
    return `The open questions can't be listed, so the id and the answer are both needed, such as: q1 yes. ${note ?? ''}`;
  }
  if (open.length === 0) return 'No question is open.';
  return `Which question is meant? Open: ${open.map((question) => question.question_id).join(', ')}.`;
}

function unclear(message: string): AnswerTarget {
  return { type: 'unclear', message: message.trim(), text: null };
}
