import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { RecordedCriterion } from '../../contracts/run-record.ts';
import type { PlannedTask, WaveFindings } from '../../contracts/run-log.ts';
import { isOfRun, waiveCriteria } from '../criteria/criteria.ts';
import { cutText } from '../text/cut-text.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

/** Most characters of a note, equal to those of one piece of evidence or one reason. */
const noteCharsMax = 1_000;

const waivedNote = 'Waived by the user.';
const metByAnswerNote = "Met by the user's answer.";

/** Lists the open criteria of the run's input: `goal-1`, `goal-2` and so on. Those of a plan have other ids. */
export function listOpenGoals(criteria: readonly RecordedCriterion[]): RecordedCriterion[] {
  return criteria.filter(
    ({ criterion_id, state }) => state === 'open' && /^goal-\d+$/.test(criterion_id),
  );
}

/**
 * Adds the criteria that the plan lists for the first time, as open. A known criterion keeps its words, because the
 * user may have written it; `rewordCriteria` changes those that the user let be changed.
 */
export function addPlannedCriteria(
  criteria: readonly RecordedCriterion[],
  tasks: readonly PlannedTask[],
): readonly RecordedCriterion[] {
  const known = new Map(criteria.map((one) => [one.criterion_id, one]));
  for (const planned of tasks.filter(isOfRun).flatMap((one) => one.acceptance_criteria)) {
    if (!known.has(planned.criterion_id)) {
      known.set(planned.criterion_id, { ...planned, state: 'open', delegation_id: null, note: '' });
    }
  }
  return [...known.values()];
}

/** Gives criteria the words of a changed plan. One that was met under the old words is open again. */
export function rewordCriteria(
  criteria: readonly RecordedCriterion[],
  tasks: readonly PlannedTask[],
  ids: readonly string[],
): readonly RecordedCriterion[] {
  const planned = new Map(
    tasks.flatMap((one) => one.acceptance_criteria).map((one) => [one.criterion_id, one]),
  );
  return criteria.map((criterion) => {
    const { question_id: _met, ...rest } = criterion;
    const description = planned.get(criterion.criterion_id)?.description;
    if (description === undefined || !ids.includes(criterion.criterion_id)) return criterion;
    if (criterion.state !== 'met') return { ...criterion, description };
    return { ...rest, description, state: 'open', note: '' };
  });
}

/** Marks criteria as waived by the user, with a note. */
export function waiveRecorded(
  criteria: readonly RecordedCriterion[],
  ids: readonly string[],
  questionId: string | undefined,
): readonly RecordedCriterion[] {
  return waiveCriteria(criteria, ids, questionId).map((one, at) =>
    one === criteria[at] ? one : { ...one, note: waivedNote },
  );
}

/** Sources of the notes on criteria at the end of a wave. */
export interface CriteriaSources extends Pick<WaveFindings, 'outputs' | 'decision'> {
  readonly outcomes: readonly DelegationOutcome[];
}

/**
 * Takes over the states after a wave, each with a note. The workflow decides the states; this only explains them. A
 * criterion of the record that `states` does not name stays unchanged.
 */
export function applyCriterionStates(
  criteria: readonly RecordedCriterion[],
  states: readonly CriterionState[],
  sources: CriteriaSources,
): readonly RecordedCriterion[] {
  const next = new Map(criteria.map((one) => [one.criterion_id, one]));
  for (const state of states) {
    const before = next.get(state.criterion_id);
    const note = findNote(state, sources) ?? (before?.state === state.state ? before.note : '');
    next.set(state.criterion_id, {
      criterion_id: state.criterion_id,
      description: before?.description ?? '',
      state: state.state,
      delegation_id: state.delegation_id,
      ...(state.question_id !== undefined && { question_id: state.question_id }),
      note: cutText(note, noteCharsMax),
    });
  }
  return [...next.values()];
}

/** Finds the note of a criterion; null when this wave says nothing about it. */
function findNote(state: CriterionState, sources: CriteriaSources): string | null {
  switch (state.state) {
    case 'waived':
      return waivedNote;
    case 'met':
      if (state.question_id !== undefined) return metByAnswerNote;
      return findEvidence(state, sources);
    case 'open':
      return findReopening(state, sources) ?? findReason(state, sources);
  }
}

function findReopening(
  { criterion_id }: CriterionState,
  { decision }: CriteriaSources,
): string | null {
  const reopened = decision?.criteria_reopened.find((one) => one.criterion_id === criterion_id);
  return reopened === undefined ? null : `Reopened by the planner: ${reopened.reason}`;
}

function findEvidence(
  state: CriterionState,
  { outcomes, outputs }: CriteriaSources,
): string | null {
  const met = outcomes.find(
    (one) =>
      one.delegation_id === state.delegation_id && one.criteria_met.includes(state.criterion_id),
  );
  if (met === undefined || met.output_ref === null) return null;
  const criteria_met = outputs[met.output_ref]?.coverage.criteria_met;
  return criteria_met?.find((one) => one.criterion_id === state.criterion_id)?.evidence ?? null;
}

/** Returns the agent's own reason, otherwise the reason why its delegation did not complete. */
function findReason(state: CriterionState, { outcomes, outputs }: CriteriaSources): string | null {
  for (const outcome of outcomes.toReversed()) {
    const isMeant =
      outcome.criteria_unmet.includes(state.criterion_id) &&
      (state.delegation_id === null || state.delegation_id === outcome.delegation_id);
    if (!isMeant) continue;
    const output = outcome.output_ref === null ? undefined : outputs[outcome.output_ref];
    const unmet = output?.coverage.criteria_unmet.find(
      (one) => one.criterion_id === state.criterion_id,
    );
    return unmet?.reason ?? `${outcome.delegation_id}: ${outcome.reason}`;
  }
  return null;
}
