/**
 * Who asked a question, when several did.
 *
 * Invariants:
 *   JQ1. Everybody who asked is named once, in the order of asking, as long as they wait.
 *   JQ2. A joined question is as urgent as the most urgent of those who asked, and settles the fact that the first of them
 *        named who named one.
 */
import type { Asker, Question } from '../../contracts/question.ts';

const urgency: readonly Question['priority'][] = ['low', 'normal', 'high', 'critical'];

/** The open question with one more who waits for it; the same object when that changes nothing. */
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

/** The open question after some of those who asked are gone. @param isGone Of an asker's delegation_id. */
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
