import type { ReviewDecisionInput, ReviewDecisionResult } from '../../contracts/activity-types.ts';
import { checkResolutions } from '../../core/decision/check-resolutions.ts';
import { loadTexts, textOf } from '../projection/record-texts.ts';
import type { RecordDeps } from './deps.ts';
import { factsFromOutputs } from './propose-facts.ts';
import { readDisputes } from './read-disputes.ts';
import { readRecord } from './read-record.ts';

/**
 * Holds a decision against the pool, against what the wave's outputs state and what its triads could not settle. None of
 * them goes through history: only the faults do.
 *
 * @throws {ArtifactCorrupt} when the record, an output or the decision is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function reviewDecision(
  { store }: Pick<RecordDeps, 'store'>,
  { record_ref, wave, outcomes, decision_ref }: ReviewDecisionInput,
): Promise<ReviewDecisionResult> {
  const record = await readRecord(store, record_ref);
  const outputs = outcomes.map(({ output_ref }) => output_ref);
  const texts = await loadTexts(store, [{ outputs, decisions: [decision_ref] }]);
  const faults = checkResolutions(textOf(texts.decisions, decision_ref), {
    pool: record.facts,
    stated: factsFromOutputs(wave, outcomes, texts),
    disputes: (await readDisputes(store, wave, outcomes)).map(({ conflict }) => conflict),
  });
  return { faults };
}
