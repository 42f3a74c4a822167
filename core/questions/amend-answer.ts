/**
 * The user changes an answer: the inbox then knows the new one as the answer.
 *
 * Invariants:
 *   AA1. Nothing changes but the answer of a question that was answered, and changing it twice is changing it once.
 */
import type { AmendedAnswer } from '../../contracts/messages.ts';
import type { AcceptedAnswer, CarriedInbox } from '../../contracts/planner-run.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

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
