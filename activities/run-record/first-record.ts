import type { OpenRunInput } from '../../contracts/activity-types.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import type { RunRequest } from './read-input.ts';

/** The record of a run that begins. The same input gives the same record. */
export function createFirstRecord(
  { run_id, started_at }: Pick<OpenRunInput, 'run_id' | 'started_at'>,
  request: RunRequest,
  registryRef: Ref,
  guide: RunRecord['workspace_guide'] | null,
): RunRecord {
  return {
    version: 1,
    revision: 0,
    previous_ref: null,
    run_id,
    goal: request.goal,
    goal_title: titleOf(request.goal),
    constraints: request.constraints,
    instructions: [],
    registry_ref: registryRef,
    ...(request.workspaceDir !== null && { workspace_dir: request.workspaceDir }),
    ...(guide !== null && guide !== undefined && { workspace_guide: guide }),
    ...(request.language !== null && { language: request.language }),
    started_at,
    updated_at: started_at,
    phase: 'intake',
    status: null,
    waves: [],
    criteria: request.criteria.map(toUserCriterion),
    details: [],
    facts: [],
    consumptions: [],
    stale: [],
    open_questions: [],
    answered_questions: [],
    rejected_answers: [],
    usage: noUsage,
    result_ref: null,
    report_ref: null,
  };
}

function toUserCriterion(description: string, index: number): RecordedCriterion {
  return {
    criterion_id: `goal-${index + 1}`,
    description,
    state: 'open',
    delegation_id: null,
    note: '',
  };
}
