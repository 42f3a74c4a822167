import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import { withHeartbeat } from '../agent-turn/heartbeat.ts';
import type { RecordDeps } from './deps.ts';
import { openRun } from './open-run.ts';
import { updateRecord } from './update-record.ts';

/** The activities that keep a run's record: its beginning, and each change to it. */
export function createRecordActivities(
  deps: RecordDeps,
): Pick<Activities, 'openRun' | 'updateRecord'> {
  return {
    openRun: (input) => guardActivity(() => withHeartbeat(() => openRun(deps, input))),
    updateRecord: (input) => guardActivity(() => withHeartbeat(() => updateRecord(deps, input))),
  };
}
