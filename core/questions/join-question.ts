/**
 * Askers of a question that several have asked.
 *
 * Invariants:
 *   JQ1. Each asker is named once, in the order of asking, for as long as it waits.
 *   JQ2. A joined question is as urgent as its most urgent asker says, and settles the fact that the first asker to
 *        name one named.
 */
import type { Asker, Question } from '../../contracts/question.ts';
import type { PlanView, QuestionWait } from '../../contracts/views.ts';
import { listDependents } from '../schedule/dependencies.ts';

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
