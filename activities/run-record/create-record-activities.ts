import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import type { RecordDeps } from './deps.ts';
import { openRun } from './open-run.ts';
import { updateRecord } from './update-record.ts';

/** The activities that keep a run's record: its beginning, and each change to it. */
export function createRecordActivities(
  deps: RecordDeps,
): Pick<Activities, 'openRun' | 'updateRecord'> {
  return {
    openRun: (input) => guardActivity(() => openRun(deps, input)),
    updateRecord: (input) => guardActivity(() => updateRecord(deps, input)),
  };
}
