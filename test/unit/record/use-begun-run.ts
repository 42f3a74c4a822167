import { readEvents } from '../../../activities/run-record/read-events.ts';
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
      return (await readEvents(harness.deps.store, begun, changes, now)).record;
    },
  };
}
