/**
 * Finds an open question with the same meaning, so that a person is asked once and every asker gets the answer.
 *
 * Two questions mean the same when their normalised texts, their formats and their choices are equal.
 *
 * Invariants:
 *   SQ1. A question joins an open one with the same meaning, when both belong to one task, or block delegations of one
 *        wave.
 *   SQ2. It joins no other question: neither an answered one, nor one of the engine, nor one of another wave.
 */
import type { Question } from '../../contracts/question.ts';
import { normaliseText } from '../text/cut-text.ts';

export function findSameQuestion(
  open: readonly Question[],
  coming: Question,
): Question | undefined {
  return open.find((other) => isJoinable(other, coming) && meansTheSame(other, coming));
}

function isJoinable(open: Question, coming: Question): boolean {
  if (open.kind !== coming.kind) return false;
  if (coming.kind === 'blocking') return open.wave === coming.wave;
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
