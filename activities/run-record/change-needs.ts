import type { RecordChange } from '../../contracts/run-record.ts';
import type { TextRefs } from '../projection/record-texts.ts';

/** The artifacts that `applyChange` reads for a change. */
export function changeNeeds(change: RecordChange): TextRefs {
  switch (change.type) {
    case 'wave_planned':
      return { plans: [change.progress.plan_ref] };
    case 'wave_done':
      return {
        plans: [change.wave.plan_ref],
        decisions: [change.wave.decision_ref],
        records: [change.wave.record_ref],
        outputs: change.wave.outcomes.map((outcome) => outcome.output_ref),
      };
    case 'phase':
    case 'question_opened':
    case 'question_answered':
    case 'answer_amended':
    case 'question_withdrawn':
    case 'answer_rejected':
    case 'instruction':
    case 'criteria_waived':
    case 'ended':
      return {};
  }
}
