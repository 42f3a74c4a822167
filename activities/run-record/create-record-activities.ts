import { Context } from '@temporalio/activity';
import type { Activities } from '../../contracts/activity-types.ts';
import { assertCurrent } from '../agent-turn/assert-current.ts';
import { guardActivity } from '../agent-turn/failures.ts';
import { withHeartbeat } from '../agent-turn/heartbeat.ts';
import type { RecordDeps } from './deps.ts';
import { judgeAnswers } from './judge-answers.ts';
import { openRun } from './open-run.ts';
import { recordPhase } from './record-phase.ts';
import { reviewDecision } from './review-decision.ts';
import { updateRecord } from './update-record.ts';

/** The activities that keep a run's record: its beginning, each change to it, what is judged by it, and the phases of its triads. */
export function createRecordActivities(
  deps: RecordDeps,
): Pick<
  Activities,
  'judgeAnswers' | 'openRun' | 'recordPhase' | 'reviewDecision' | 'updateRecord'
> {
  return {
    judgeAnswers: (input) => guardActivity(() => withHeartbeat(() => judgeAnswers(deps, input))),
    openRun: (input) => guardActivity(() => withHeartbeat(() => openRun(deps, input))),
    recordPhase: (input) =>
      guardActivity(() =>
        withHeartbeat(({ hasMissed }) =>
          recordPhase(deps, input, () => assertCurrent(Context.current(), hasMissed)),
        ),
      ),
    reviewDecision: (input) =>
      guardActivity(() => withHeartbeat(() => reviewDecision(deps, input))),
    updateRecord: (input) => guardActivity(() => withHeartbeat(() => updateRecord(deps, input))),
  };
}
