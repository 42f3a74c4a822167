/**
 * Judges answers that come before their question.
 *
 * A workflow task can be lost after a query has shown the question that it asked. The answer then comes with the task that is
 * done again, and Core hands over signals and updates before the result that leads to the question.
 *
 * Invariants:
 *   EA1. An answer is early when its question may still be asked, and no other one is.
 *   EA2. An early answer is for the questions of one asker: where two ask in the same task, each may get the other's numbers.
 */
import type { CarriedInbox } from '../../contracts/planner-run.ts';
import { questionNumber } from '../ids.ts';
import { isRecord } from '../json.ts';
import { readQuestionId } from './judge-answer.ts';

type Asked = Pick<CarriedInbox, 'next_question' | 'pending'>;

export function isEarlyAnswer({ next_question }: Asked, payload: unknown): boolean {
  const id = isRecord(payload) ? readQuestionId(payload) : null;
  return id !== null && questionNumber(id) >= next_question;
}

/**
 * Finds out why an early answer can't be taken once its question is asked.
 *
 * @param before The inbox when the answer came.
 */
export function findEarlyFault(before: Asked, now: Asked, payload: unknown): string | null {
  if (!isEarlyAnswer(before, payload) || isEarlyAnswer(now, payload)) return null;
  const isNew = (id: string | null): boolean => questionNumber(id ?? '') >= before.next_question;
  const asked = now.pending
    .map(({ answers }) => answers.map(({ question_id }) => question_id).filter(isNew))
    .filter((ids) => ids.length > 0);
  // Askers may share a question.
  return asked.length > 1 && new Set(asked.flat()).size > 1 ? ambiguous : null;
}

const ambiguous =
  'questions of several askers came at the same moment as this answer, so it may be meant for another one. Try: look at the open questions, and answer again';
