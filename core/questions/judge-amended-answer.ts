/**
 * Decides whether the user may change an accepted answer.
 *
 * Invariants:
 *   JM1. Only the answer to an answered question changes, and only to one that the question's format accepts.
 *   JM2. Any payload gets a verdict; a refusal says why and what to try.
 */
import type { Question } from '../../contracts/question.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkAnswer } from './check-answer.ts';

export interface AskedSoFar {
  readonly open: readonly Pick<Question, 'question_id'>[];
  /** `question`: as it was asked; null when it was not kept. */
  readonly answered: readonly {
    readonly question_id: string;
    readonly question: Question | null;
  }[];
}

export type AmendedVerdict =
  /** `text`: the canonical text. */
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

export function judgeAmendedAnswer(
  { open, answered }: AskedSoFar,
  questionId: string,
  answer: unknown,
): AmendedVerdict {
  const found = answered.find(({ question_id }) => question_id === questionId);
  if (found === undefined) {
    return { ok: false, reason: explainUnknown(questionId, { open, answered }) };
  }
  if (found.question === null) {
    return {
      ok: false,
      reason: `how ${questionId} was asked is not known any more. Try: an instruction without answers`,
    };
  }
  const checked = checkAnswer(found.question, answer);
  if (checked.ok) return checked;
  const example =
    checked.example === null
      ? ''
      : `. Try: ${JSON.stringify({ question_id: questionId, answer: checked.example })}`;
  return { ok: false, reason: `${questionId}: ${checked.reason}${example}` };
}

function explainUnknown(questionId: string, { open, answered }: AskedSoFar): string {
  const shown = JSON.stringify(cutText(questionId, 60));
  if (open.some(({ question_id }) => question_id === questionId)) {
    return `${shown} is still open. Try: the signal answer`;
  }
  const ids = answered.map(({ question_id }) => question_id);
  return `there is no answered question ${shown}. Try: one of ${listNames(ids)}`;
}
