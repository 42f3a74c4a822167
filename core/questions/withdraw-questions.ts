/**
 * Closes questions that nobody waits for any more, because who asked is gone.
 *
 * Invariants:
 *   WQ1. What the asker had open closes and is never delivered; questions of others stay as they are.
 *   WQ2. A late answer is refused and told why.
 */
import type { CarriedInbox } from '../../contracts/planner-run.ts';
import type { Question } from '../../contracts/question.ts';
import { answererNames } from '../../contracts/names.ts';
import { engineLimits } from '../limits.ts';
import { acceptAnswer } from './judge-answer.ts';

export interface Withdrawal {
  /** The workflow that waited for the answers. */
  readonly from: string;
  /** If null, all that the workflow waited for. */
  readonly delegation_id: string | null;
  /** Unix epoch seconds. */
  readonly now: number;
}

export function withdrawQuestions(
  state: CarriedInbox,
  { from, delegation_id, now }: Withdrawal,
): { readonly state: CarriedInbox; readonly gone: readonly Question[] } {
  const asked = new Set(
    state.pending
      .filter((pending) => pending.from === from)
      .flatMap(({ answers }) => answers.map(({ question_id }) => question_id)),
  );
  const isOfAsker = (question: Question): boolean =>
    delegation_id === null || question.delegation_id === delegation_id;
  const gone = state.open.filter(
    (question) => asked.has(question.question_id) && isOfAsker(question),
  );
  const ids = new Set(gone.map(({ question_id }) => question_id));
  const text = 'withdrawn: nobody waits for it any more';
  const closed = gone.map((question) => [
    question.question_id,
    acceptAnswer(question, text, { answered_by: answererNames.engine, now }),
  ]);
  return {
    gone,
    state: {
      ...state,
      open: state.open.filter(({ question_id }) => !ids.has(question_id)),
      answered: keepNewest({ ...state.answered, ...Object.fromEntries(closed) }),
      pending: state.pending.filter(
        ({ answers }) => !answers.some(({ question_id }) => ids.has(question_id)),
      ),
    },
  };
}

/** The newest answers: the table is carried over continue-as-new and must not grow for ever. */
export function keepNewest(answered: CarriedInbox['answered']): CarriedInbox['answered'] {
  const entries = Object.entries(answered);
  const over = entries.length - engineLimits.questionsMax;
  return over > 0 ? Object.fromEntries(entries.slice(over)) : answered;
}
