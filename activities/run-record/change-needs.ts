import type { RecordChange } from '../../contracts/run-record.ts';
import type { TextRefs } from '../projection/record-texts.ts';

/** The artifacts that `applyChange` reads for a change. */
export function changeNeeds(change: RecordChange): TextRefs {
  if (change.type === 'wave_planned') return { plans: [change.progress.plan_ref] };
  if (change.type !== 'wave_done') return {};
  const { plan_ref, decision_ref, record_ref, outcomes } = change.wave;
  return {
    plans: [plan_ref],
    decisions: [decision_ref],
    records: [record_ref],
    outputs: outcomes.map((outcome) => outcome.output_ref),
  };
}
