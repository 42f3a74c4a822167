/**
 * The user changes an answer: the inbox then knows the new one as the answer.
 *
 * Invariants:
 *   AA1. Nothing changes but the answer of a question that was answered, and changing it twice is changing it once.
 */
import type { AmendedAnswer } from '../../contracts/messages.ts';
import type { AcceptedAnswer, CarriedInbox } from '../../contracts/planner-run.ts';
import type { Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { checkAnswer } from './check-answer.ts';

/** @param now Unix epoch seconds. */
export function amendAnswer(
  inbox: CarriedInbox,
  { question_id, answer, hash }: Pick<AmendedAnswer, 'question_id' | 'answer' | 'hash'>,
  now: number,
): CarriedInbox {
  const known = Object.hasOwn(inbox.answered, question_id);
  const before = known ? inbox.answered[question_id] : undefined;
  if (before === undefined || before.hash === hash) return inbox;
  const after: AcceptedAnswer = {
    ...before,
    hash,
    // Other spellings of a choice are known only while its question is.
    same_hashes: [],
    shown: cutText(answer, engineLimits.shownAnswerCharsMax),
    answered_by: 'user',
    answered_at: now,
  };
  return { ...inbox, answered: { ...inbox.answered, [question_id]: after } };
}

/**
 * Decides whether the user may change an accepted answer.
 *
 * Invariants:
 *   JM1. Only the answer to an answered question changes, and only to one that the question's format accepts.
 *   JM2. Any payload gets a verdict; a refusal says why and what to try.
 */

interface AskedSoFar {
  readonly open: readonly Pick<Question, 'question_id'>[];
  /** `question`: as it was asked; null when it was not kept. */
  readonly answered: readonly {
    readonly question_id: string;
    readonly question: Question | null;
  }[];
}

type AmendedVerdict =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

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
