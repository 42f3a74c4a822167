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
 */
import type { CriteriaByAnswers, CriterionState } from '../../contracts/criterion.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import { isPerson } from '../questions/answer-kinds.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { openCriteria } from './criteria.ts';

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
