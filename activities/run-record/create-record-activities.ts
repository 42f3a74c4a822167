import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import { withHeartbeat } from '../agent-turn/heartbeat.ts';
import type { RecordDeps } from './deps.ts';
import { judgeAnswers } from './judge-answers.ts';
import { openRun } from './open-run.ts';
import { reviewDecision } from './review-decision.ts';
import { updateRecord } from './update-record.ts';

/** The activities that keep a run's record: its beginning, each change to it, and what is judged by it. */
export function createRecordActivities(
  deps: RecordDeps,
): Pick<Activities, 'judgeAnswers' | 'openRun' | 'reviewDecision' | 'updateRecord'> {
  return {
    judgeAnswers: (input) => guardActivity(() => withHeartbeat(() => judgeAnswers(deps, input))),
    openRun: (input) => guardActivity(() => withHeartbeat(() => openRun(deps, input))),
    reviewDecision: (input) =>
      guardActivity(() => withHeartbeat(() => reviewDecision(deps, input))),
    updateRecord: (input) => guardActivity(() => withHeartbeat(() => updateRecord(deps, input))),
  };
}
