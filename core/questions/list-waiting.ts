/**
 * Lists the delegations that stand still until a question is answered.
 *
 * Invariants:
 *   LW1. Every delegation that asked is listed, once, in the order of asking.
 *   LW2. Each delegation of the same plan that depends on them, directly or indirectly, is listed once, in the order of
 *        the plan, and no other.
 */
import type { PlannedDelegation } from '../../contracts/messages.ts';
import type { Question } from '../../contracts/question.ts';
import type { PlanView, QuestionWait } from '../../contracts/views.ts';
import { askersOf } from './join-question.ts';

/** @param plan The plan of the current wave, if there is one. */
export function listWaiting(question: Question, plan: PlanView | null): QuestionWait {
  const waiting = askersOf(question).flatMap(({ delegation_id }) => delegation_id ?? []);
  const planned = plan?.wave === question.wave ? plan.delegations : [];
  return { waiting, blocked: dependentsOf(waiting, planned) };
}

function dependentsOf(
  ids: readonly string[],
  planned: readonly PlannedDelegation[],
): readonly string[] {
  const reached = new Set(ids);
  const pending = [...ids];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const id = next;
    for (const { delegation_id, depends_on } of planned) {
      if (reached.has(delegation_id) || !depends_on.includes(id)) continue;
      reached.add(delegation_id);
      pending.push(delegation_id);
    }
  }
  const asked = new Set(ids);
  return planned
    .map(({ delegation_id }) => delegation_id)
    .filter((id) => reached.has(id) && !asked.has(id));
}
