import { loadTexts } from '../../../activities/projection/record-texts.ts';
import { applyChange } from '../../../activities/run-record/apply-change.ts';
import { changeNeeds } from '../../../activities/run-record/change-needs.ts';
import type { RecordChange, RunRecord } from '../../../contracts/run-record.ts';
import { useHarness } from './harness.ts';
import type { Harness } from './harness.ts';

/** When its record changes, Unix epoch seconds. */
export const now = 1_760_009_999;

interface BegunRun {
  readonly harness: Harness;
  /** Applies changes to the first record of the run; without changes, returns that record. */
  readonly apply: (...changes: readonly RecordChange[]) => Promise<RunRecord>;
}

/** A run that has just begun, another one for each test. */
export function useBegunRun(): BegunRun {
  const harness = useHarness();
  let begun: RunRecord;
  beforeEach(async () => {
    const run = await harness.begin('my-run', { goal: 'Goal', criteria: ['It is cheap'] });
    begun = await run.record();
  });
  return {
    harness,
    async apply(...changes) {
      const texts = await loadTexts(harness.deps.store, changes.map(changeNeeds));
      return changes.reduce((before, change) => applyChange(before, change, texts, now), begun);
    },
  };
}
