import type { LeftAnswer } from '../../contracts/planner-run.ts';
import type { Question, Asker } from '../../contracts/question.ts';
import { normaliseText } from '../text/cut-text.ts';
import type { PlanView, QuestionWait } from '../../contracts/views.ts';
import { listDependents } from '../schedule/dependencies.ts';

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

/**
 * Askers of a question that several have asked.
 *
 * Invariants:
 *   JQ1. Each asker is named once, in the order of asking, for as long as it waits.
 *   JQ2. A joined question is as urgent as its most urgent asker says, and settles the fact that the first asker to
 *        name one named.
 */

const urgency: readonly Question['priority'][] = ['low', 'normal', 'high', 'critical'];

/** Returns the open question with one more asker; the same object when that changes nothing. */
export function joinQuestion(open: Question, coming: Question): Question {
  const known = askersOf(open).some((asker) => asker.delegation_id === coming.delegation_id);
  const isMoreUrgent = urgency.indexOf(coming.priority) > urgency.indexOf(open.priority);
  const isKeyNew = open.fact_key === undefined && coming.fact_key !== undefined;
  if (known && !isMoreUrgent && !isKeyNew) return open;
  const { delegation_id, agent_id, fact_key } = coming;
  return {
    ...open,
    ...(isKeyNew && { fact_key }),
    priority: isMoreUrgent ? coming.priority : open.priority,
    also_asked_by: known
      ? open.also_asked_by
      : [...open.also_asked_by, { delegation_id, agent_id }],
  };
}

/** Returns the open question without askers that are gone. @param isGone Called with an asker's delegation_id. */
export function leaveQuestion(
  open: Question,
  isGone: (delegationId: string | null) => boolean,
): Question {
  const left = askersOf(open).filter(({ delegation_id }) => !isGone(delegation_id));
  const [first, ...others] = left;
  if (first === undefined || left.length === 1 + open.also_asked_by.length) return open;
  return { ...open, ...first, also_asked_by: others };
}

export function askersOf({ delegation_id, agent_id, also_asked_by }: Question): readonly Asker[] {
  return [{ delegation_id, agent_id }, ...also_asked_by];
}

/**
 * Lists the delegations that stand still until a question is answered.
 *
 * Invariants:
 *   LW1. Every delegation that asked is listed, once, in the order of asking.
 *   LW2. Each delegation of the same plan that depends on them, directly or indirectly, is listed once, in the order of
 *        the plan, and no other.
 *
 * @param plan The plan of the current wave, if there is one.
 */
export function listWaiting(question: Question, plan: PlanView | null): QuestionWait {
  const waiting = askersOf(question).flatMap(({ delegation_id }) => delegation_id ?? []);
  const planned = plan?.wave === question.wave ? plan.delegations : [];
  return { waiting, blocked: listDependents(waiting, planned) };
}
