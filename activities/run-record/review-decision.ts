import type { ReviewDecisionInput, ReviewDecisionResult } from '../../contracts/activity-types.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { checkNamedAnswer } from '../../core/decision/check-decision.ts';
import type { Answerable } from '../../core/decision/check-decision.ts';
import { checkResolutions } from '../../core/decision/check-resolutions.ts';
import {
  checkReopened,
  conflictOfMerge,
  listDropped,
} from '../../core/workspace/merge-conflicts.ts';
import { capFaults } from '../../core/text/faults.ts';
import { listCompleted } from '../../core/run/list-deliverables.ts';
import { loadTexts, textOf } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import type { RecordDeps } from './deps.ts';
import { factsFromOutputs } from '../../core/pool/propose-facts.ts';
import { readDisputes } from '../artifacts/read-disputes.ts';
import { readRecord } from '../artifacts/record-log.ts';

/**
 * Checks a decision against the pool, the statements of the wave's outputs and the disputes of its triads, and its
 * answer against the run's results. Only the faults go through history.
 *
 * @throws {ArtifactCorrupt} when the record, an output or the decision is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function reviewDecision(
  { store }: Pick<RecordDeps, 'store'>,
  { record_ref, wave, outcomes, merge_conflicts = [], decision_ref }: ReviewDecisionInput,
): Promise<ReviewDecisionResult> {
  const record = await readRecord(store, record_ref);
  const outputs = outcomes.map(({ output_ref }) => output_ref);
  const texts = await loadTexts(store, [{ outputs, decisions: [decision_ref] }]);
  const decision = textOf(texts.decisions, decision_ref);
  const faults = checkResolutions(decision, {
    pool: record.facts,
    stated: factsFromOutputs(wave, outcomes, (ref) => textOf(texts.outputs, ref)),
    disputes: [
      ...merge_conflicts.map(conflictOfMerge),
      ...(await readDisputes(store, wave, outcomes)).map(({ conflict }) => conflict),
    ],
  });
  const named = checkNamedAnswer(decision.answer, listAnswerable(record, outcomes, texts));
  const dropped = listDropped(merge_conflicts, decision.planner_decision.conflicts_resolved);
  const results = outcomes.filter(isCompleted).map(({ delegation_id, output_ref }) => ({
    delegation_id,
    criterion_ids:
      output_ref === null
        ? []
        : textOf(texts.outputs, output_ref).coverage.criteria_met.map((one) => one.criterion_id),
  }));
  const reopened = checkReopened(dropped, results, decision);
  return { faults: capFaults([...faults, ...reopened, ...named]) };
}

/**
 * Lists the results before the wave and those of the wave. A claimed effect counts as confirmed, because its output was
 * checked.
 */
function listAnswerable(
  record: RunRecord,
  outcomes: ReviewDecisionInput['outcomes'],
  texts: RecordTexts,
): Answerable {
  const { effects = [] } = record;
  return {
    delegations: [...listCompleted(record), ...outcomes.filter(isCompleted)].map(
      ({ delegation_id }) => delegation_id,
    ),
    files: [
      ...effects.flatMap(({ state, target }) => (state === 'confirmed' ? [target] : [])),
      ...outcomes.flatMap(({ output_ref }) =>
        output_ref === null ? [] : textOf(texts.outputs, output_ref).effects_claimed,
      ),
    ],
  };
}

function isCompleted({ status, output_ref }: ReviewDecisionInput['outcomes'][number]): boolean {
  return status === 'completed' && output_ref !== null;
}
