/**
 * State of a run's acceptance criteria.
 *
 * Invariants:
 *   C1. A waived criterion stays waived, whatever is planned or reported.
 *   C2. Planning adds open criteria and changes no other.
 *   C3. A criterion becomes met only by an outcome that names it as met.
 *   C4. Where outcomes of one wave disagree on a criterion, it is open, in whatever order they came. A completed
 *       version that replaces another has the last word on the criteria that it names.
 *   C5. An outcome without an agent's output takes nothing back, because it says nothing about any criterion.
 *   C6. A criterion that is met by the user's answer is not taken back by an outcome; only the planner's decision
 *       reopens it.
 *   C7. Done means at least one criterion, and none open.
 *   C8. The criteria of a task that answers questions of another one are none of the run's.
 */
import type { CriterionState } from '../../contracts/criterion.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { listReplaced } from '../schedule/dependencies.ts';

/** Adds the criteria that the plan lists for the first time, as open. */
export function applyPlan(
  criteria: readonly CriterionState[],
  delegations: readonly Pick<DelegationOutline, 'criterion_ids' | 'answers'>[],
): CriterionState[] {
  const known = new Set(criteria.map((c) => c.criterion_id));
  const planned = delegations.filter(isOfRun).flatMap((one) => one.criterion_ids);
  const added = new Set(planned.filter((id) => !known.has(id)));
  return [
    ...criteria,
    ...[...added].map((id): CriterionState => ({
      criterion_id: id,
      state: 'open',
      delegation_id: null,
    })),
  ];
}

/** Returns true for work on the run's criteria, and false for an answer to questions. */
export function isOfRun({ answers }: Pick<DelegationOutline, 'answers'>): boolean {
  return answers === undefined;
}

/** @param outcomes All outcomes of a wave in one call, so that contradictions are found. */
export function applyOutcomes(
  criteria: readonly CriterionState[],
  outcomes: readonly DelegationOutcome[],
): CriterionState[] {
  const spoken = outcomes.filter((o) => o.status === 'completed' || o.output_ref !== null);
  const metBy = new Map<string, string>();
  const unmetBy = new Map<string, string>();
  for (const outcome of spoken) {
    const isLast = (id: string): boolean => !isReplacedOn(id, outcome, spoken);
    for (const id of outcome.criteria_met.filter(isLast)) metBy.set(id, outcome.delegation_id);
    for (const id of outcome.criteria_unmet.filter(isLast)) unmetBy.set(id, outcome.delegation_id);
  }
  return criteria.map((criterion): CriterionState => {
    if (criterion.state === 'waived' || isMetByAnswer(criterion)) return criterion;
    const unmet = unmetBy.get(criterion.criterion_id);
    if (unmet !== undefined) return { ...criterion, state: 'open', delegation_id: unmet };
    const met = metBy.get(criterion.criterion_id);
    return met === undefined ? criterion : { ...criterion, state: 'met', delegation_id: met };
  });
}

/** Returns true when a newer version of the result reports on the criterion; then the older report does not count. */
function isReplacedOn(
  id: string,
  { delegation_id }: DelegationOutcome,
  spoken: readonly DelegationOutcome[],
): boolean {
  return spoken.some(
    (newer) =>
      newer.status === 'completed' &&
      listReplaced(newer, spoken).includes(delegation_id) &&
      [...newer.criteria_met, ...newer.criteria_unmet].includes(id),
  );
}

/** Reopens criteria that are met. Other ids change nothing. */
export function reopenCriteria(
  criteria: readonly CriterionState[],
  ids: readonly string[],
): CriterionState[] {
  return criteria.map((c) =>
    c.state === 'met' && ids.includes(c.criterion_id)
      ? { criterion_id: c.criterion_id, state: 'open', delegation_id: c.delegation_id }
      : c,
  );
}

/**
 * Marks criteria as waived by the user. Unknown ids change nothing, and criteria that are waived already keep their
 * question.
 *
 * @param questionId The question whose answer waives them. Undefined when an instruction waives them.
 */
export function waiveCriteria<C extends CriterionState>(
  criteria: readonly C[],
  ids: readonly string[],
  questionId?: string,
): C[] {
  return criteria.map((criterion) => {
    const { question_id: _met, ...rest } = criterion;
    if (criterion.state === 'waived' || !ids.includes(criterion.criterion_id)) return criterion;
    const question = questionId === undefined ? {} : { question_id: questionId };
    // Only an optional field is left out, so the rest is a complete criterion.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...(rest as C), state: 'waived', ...question };
  });
}

function isMetByAnswer({ state, question_id }: CriterionState): boolean {
  return state === 'met' && question_id !== undefined;
}

export function openCriteria(criteria: readonly CriterionState[]): string[] {
  return criteria.filter((c) => c.state === 'open').map((c) => c.criterion_id);
}

export function isDone(criteria: readonly CriterionState[]): boolean {
  return criteria.length > 0 && openCriteria(criteria).length === 0;
}
