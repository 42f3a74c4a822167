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
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import { listReplaced } from '../schedule/dependencies.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { lacksOutput } from '../executor.ts';
import type { CriterionState, CriteriaByAnswers } from '../../contracts/criterion.ts';
import { isPerson } from '../questions/answer-kinds.ts';

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

/** Returns true for an outcome with a word on its criteria. The engine's own, of a triad or a team without an output, has none. */
function hasSpoken({ status, output_ref, executor }: DelegationOutcome): boolean {
  return status === 'completed' || (output_ref !== null && !lacksOutput(executor));
}

/** @param outcomes All outcomes of a wave in one call, so that contradictions are found. */
export function applyOutcomes(
  criteria: readonly CriterionState[],
  outcomes: readonly DelegationOutcome[],
): CriterionState[] {
  const spoken = outcomes.filter(hasSpoken);
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

/**
 * Criteria that a plan or a decision takes as waived or met because an answer of the user says so.
 *
 * Invariants:
 *   CA1. Only an answer that a person gave waives or meets a criterion: no default, no assumption, not the planner's
 *        own.
 *   CA2. An answer settles only a criterion that is open or was claimed as met in this wave; one answer settles it.
 *   CA3. A waived criterion stays waived; criteria that are not named stay as they were.
 *   CA4. All faults are reported at once, each with path, reason and "Try: …".
 *   CA5. When the user changes an answer, what it had settled is open again.
 *   CA6. A plan or a decision settles by the answers that it had heard: a change that came later undoes that, whichever of
 *        the two arrives first, and one that it had heard does not.
 */

/** Applies the answers that a plan or decision cites, and returns the criteria after that. */
export function settleByAnswers(
  criteria: readonly CriterionState[],
  { criteria_waived = [], criteria_met_by_answer = [] }: CriteriaByAnswers,
): CriterionState[] {
  const waived = new Map(criteria_waived.map((one) => [one.criterion_id, one.question_id]));
  const met = new Map(criteria_met_by_answer.map((one) => [one.criterion_id, one.question_id]));
  return criteria.map((criterion): CriterionState => {
    const { criterion_id, state, delegation_id } = criterion;
    if (state === 'waived') return criterion;
    const waiver = waived.get(criterion_id);
    if (waiver !== undefined) {
      return { criterion_id, state: 'waived', delegation_id, question_id: waiver };
    }
    const proof = met.get(criterion_id);
    return proof === undefined
      ? criterion
      : { criterion_id, state: 'met', delegation_id: null, question_id: proof };
  });
}

/**
 * Reopens criteria that were settled by answers which have changed. @param questionIds Questions of the changed
 * answers.
 */
export function reopenChanged<C extends CriterionState>(
  criteria: readonly C[],
  questionIds: readonly string[],
): C[] {
  return criteria.map((criterion) => {
    const { question_id, ...rest } = criterion;
    if (question_id === undefined || !questionIds.includes(question_id)) return criterion;
    // Only an optional field is left out, so the rest is a complete criterion.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { ...(rest as C), state: 'open' };
  });
}

/** Facts against which claims about answers are checked. */
export interface AnswersContext {
  readonly criteria: readonly CriterionState[];
  /** Ids of criteria that outputs of this wave claim as met. Empty while it is planned. */
  readonly claimed: readonly string[];
  readonly answered_questions: readonly KnownAnswer[];
}

/** @returns every fault at once; empty when each criterion and each answer can be taken. */
export function checkByAnswers(
  { criteria_waived = [], criteria_met_by_answer = [] }: CriteriaByAnswers,
  context: AnswersContext,
): OutputFault[] {
  const entries = [
    ...criteria_waived.map((one, i) => ({ ...one, path: `criteria_waived[${i}]` })),
    ...criteria_met_by_answer.map((one, i) => ({ ...one, path: `criteria_met_by_answer[${i}]` })),
  ];
  const first = new Map<string, string>();
  return entries.flatMap(({ criterion_id, question_id, path }) => {
    const before = first.get(criterion_id);
    if (before === undefined) first.set(criterion_id, path);
    const faults = [
      before === undefined
        ? checkCriterion(criterion_id, context)
        : {
            reason: `"${cutText(criterion_id, 60)}" is listed already, at ${before}`,
            hint: 'Try: one entry for each criterion',
          },
    ].map((fault) => fault && { path: `${path}.criterion_id`, ...fault });
    const answer = checkAnswered(question_id, context.answered_questions);
    return [...faults, answer && { path: `${path}.question_id`, ...answer }].filter(
      (fault) => fault !== null,
    );
  });
}

type Fault = Omit<OutputFault, 'path'>;

function checkCriterion(id: string, { criteria, claimed }: AnswersContext): Fault | null {
  const state = criteria.find((one) => one.criterion_id === id)?.state;
  if (state === 'open' || (state === 'met' && claimed.includes(id))) return null;
  const open = openCriteria(criteria);
  return {
    reason:
      state === undefined
        ? `"${cutText(id, 60)}" is no criterion of this run`
        : `"${id}" is ${state} already`,
    hint:
      open.length === 0
        ? 'Try: leave it out. No criterion is open'
        : `Try: leave it out. Open criteria: ${listNames(open)}`,
  };
}

function checkAnswered(id: string, answers: readonly KnownAnswer[]): Fault | null {
  const answer = answers.findLast((one) => one.question_id === id);
  if (answer !== undefined && isPerson(answer.answered_by)) return null;
  const given = answers.filter((one) => isPerson(one.answered_by)).map((one) => one.question_id);
  return {
    reason:
      answer === undefined
        ? `there is no answered question "${cutText(id, 60)}"`
        : `"${id}" was answered by ${cutText(answer.answered_by, 60)}, and only the user can waive or meet a criterion`,
    hint:
      given.length === 0
        ? 'Try: leave it out, or ask the user. The user has answered no question yet'
        : `Try: leave it out, or ask the user. The user answered: ${listNames(given)}`,
  };
}
