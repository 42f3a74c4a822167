import type { LeftAnswer } from '../../contracts/planner-run.ts';
import type { Question } from '../../contracts/question.ts';
import { normaliseText } from '../text/cut-text.ts';

/**
 * Finds an open question with the same meaning, so that a person is asked once and every asker gets the answer.
 *
 * Two questions mean the same when their normalised texts, their formats and their choices are equal.
 *
 * Invariants:
 *   SQ1. A question joins an open one with the same meaning, when both belong to one task, or block delegations of one
 *        wave.
 *   SQ2. It joins no other question: neither an answered one, nor one of the engine, nor one of another wave.
 *   SQ3. An open question that no one waits for is left from work that the run does once more. Whoever asks the same
 *        joins it, in whichever wave, and becomes its asker. Asking once more counts for no loop.
 *   SQ4. So is an answer that no one waited for. Whoever asks the same gets it at once, under its question_id, and so do
 *        all that would have joined the question.
 *
 * @param isAwaited Returns true if some work waits for the answer to an open question.
 */
export function findSameQuestion(
  open: readonly Question[],
  coming: Question,
  isAwaited: (question: Question) => boolean,
): Question | undefined {
  return open.find(
    (other) => isJoinable(other, coming, isAwaited(other)) && meansTheSame(other, coming),
  );
}

function isJoinable(open: Question, coming: Question, isAwaited: boolean): boolean {
  if (open.kind !== coming.kind) return false;
  if (coming.kind === 'blocking') return open.wave === coming.wave || !isAwaited;
  if (coming.kind === 'design') return open.agent_id === coming.agent_id;
  return coming.kind === 'planner' && open.delegation_id === coming.delegation_id;
}

function meansTheSame(a: Question, b: Question): boolean {
  return (
    a.expected_answer_format === b.expected_answer_format &&
    a.choices.toSorted().join('\n') === b.choices.toSorted().join('\n') &&
    normaliseText(a.text) === normaliseText(b.text)
  );
}

/** Finds the answer to a question with the same meaning that is left from work that the run does once more. */
export function findLeftAnswer(
  left: readonly LeftAnswer[],
  coming: Question,
): LeftAnswer | undefined {
  return left.find(
    ({ question, is_taken }) =>
      isJoinable(question, coming, is_taken) && meansTheSame(question, coming),
  );
}

/** Gives a left answer to an asker of a wave: from now on only those take it who would join an open question. */
export function takeLeftAnswer(
  left: readonly LeftAnswer[],
  taken: LeftAnswer,
  wave: number,
): LeftAnswer[] {
  return left.map((one) =>
    one === taken ? { ...one, question: { ...one.question, wave }, is_taken: true } : one,
  );
}
