import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Activities } from '../../contracts/activity-types.ts';
import { whileCurrent, withHeartbeat } from '../attempt/heartbeat.ts';
import type { RecordDeps } from './deps.ts';
import { judgeAnswers, reviewDecision } from './review-decision.ts';
import { openRun } from './open-run.ts';
import { recordPhase } from './record-phase.ts';
import { applyRunChanges, findMergeConflicts, proposeChanges } from './settle-changes.ts';
import { archiveSessions, type RunFate } from './archive-sessions.ts';
import { updateRecord } from './update-record.ts';

/** The activities that keep a run's record: its beginning, each change to it, what is judged by it, and the phases of its triads. */
export function createRecordActivities(
  deps: RecordDeps,
): Pick<
  Activities,
  | 'applyRunChanges'
  | 'archiveSessions'
  | 'findMergeConflicts'
  | 'judgeAnswers'
  | 'openRun'
  | 'proposeChanges'
  | 'recordPhase'
  | 'reviewDecision'
  | 'updateRecord'
> {
  return {
    applyRunChanges: (input) =>
      whileCurrent((assertCurrent) => applyRunChanges(deps, input, assertCurrent)),
    archiveSessions: (input) =>
      whileCurrent((assertCurrent) => archiveSessions({ ...deps, fateOf }, input, assertCurrent)),
    proposeChanges: (input) => withHeartbeat(() => proposeChanges(deps, input)),
    findMergeConflicts: (input) => withHeartbeat(() => findMergeConflicts(deps, input)),
    judgeAnswers: (input) => withHeartbeat(() => judgeAnswers(deps, input)),
    openRun: (input) => whileCurrent((assertCurrent) => openRun(deps, input, assertCurrent)),
    recordPhase: (input) =>
      whileCurrent((assertCurrent) => recordPhase(deps, input, assertCurrent)),
    reviewDecision: (input) => withHeartbeat(() => reviewDecision(deps, input)),
    updateRecord: (input) =>
      whileCurrent((assertCurrent) => updateRecord(deps, input, assertCurrent)),
  };
}

/** Asks the server of the worker. */
async function fateOf(runId: string): Promise<RunFate> {
  try {
    const { status } = await Context.current().client.workflow.getHandle(runId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'open' : 'ended';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}
