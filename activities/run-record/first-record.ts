import type { OpenRunInput } from '../../contracts/activity-types.ts';
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import type { PlanOutline, RecordedDesign } from '../../contracts/design-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { addPlannedCriteria } from '../../core/run/record-criteria.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import type { RunRequest } from './read-input.ts';
import { quoteAgents, quoteTasks } from '../../core/design/describe-design.ts';

/** The record of a run that begins. The same input gives the same record. */
export function createFirstRecord(
  { run_id, started_at }: Pick<OpenRunInput, 'run_id' | 'started_at'>,
  request: RunRequest,
  registryRef: Ref,
  {
    typedPlan,
    guide,
    storeId,
    inputRef,
  }: {
    readonly typedPlan: PlanOutline | null;
    readonly guide: RunRecord['workspace_guide'] | null;
    readonly storeId: string;
    /** Null for a part that is started alone. */
    readonly inputRef: Ref | null;
  },
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
    store_id: storeId,
    ...(inputRef !== null && { input_ref: inputRef }),
    ...(request.workspaceDir !== null && {
      workspace_dir: request.workspaceDir,
      changes: request.changes,
    }),
    ...(guide !== null && guide !== undefined && { workspace_guide: guide }),
    ...(request.language !== null && { language: request.language }),
    started_at,
    updated_at: started_at,
    phase: 'intake',
    status: null,
    waves: [],
    criteria: addPlannedCriteria(
      request.criteria.map(toUserCriterion),
      request.plan === null ? [] : quoteTasks(request.plan),
    ),
    details: [],
    facts: [],
    consumptions: [],
    stale: [],
    open_questions: [],
    answered_questions: [],
    rejected_answers: [],
    usage: noUsage,
    ...(typedPlan !== null &&
      request.plan !== null && { design: givenDesign(typedPlan, request.plan) }),
    result_ref: null,
    report_ref: null,
  };
}

/** Returns the design of a plan that came with the input: it was approved before. */
function givenDesign({ plan_ref }: PlanOutline, plan: CoordinationPlan): RecordedDesign {
  return {
    status: 'approved',
    materials: [],
    plan_refs: [plan_ref],
    plan_agents: quoteAgents(plan),
    findings: [],
    approved_by: null,
    usage: noUsage,
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
