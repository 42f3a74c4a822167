import type { AdaptationCause } from '../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../contracts/design-run.ts';
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { findTask } from '../../core/design/next-wave.ts';
import {
  projectSharedStatus,
  renderConversationSummary,
  renderCoordinationPlan,
} from '../../core/design/render-plan.ts';
import type { PlanTaskState, PlanTaskStatus } from '../../core/design/render-plan.ts';
import { renderAgentInstructions } from '../../core/design/templates.ts';
import { bullets } from '../../core/text/markdown.ts';
import type { Deliverable } from '../../core/run/list-deliverables.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { ProjectedFile, RecordTexts } from './record-texts.ts';

/** Returns the address of the current plan; null before there is one. */
export function planRefOf({ design }: Pick<RunRecord, 'design'>): Ref | null {
  return design?.plan_refs.at(-1) ?? null;
}

/** Lists the files of a design (seed 003, "Directory Structure"). */
export function listDesignFiles(record: RunRecord): readonly ProjectedFile[] {
  const { design } = record;
  const ref = planRefOf(record);
  if (design === undefined || ref === null) return [];
  const shared = { needs: { coordination_plans: [ref] }, of: [ref] };
  return [
    {
      ...shared,
      path: treePaths.coordinationPlan,
      render: (texts) => renderCoordinationPlan(textOf(texts.coordination_plans, ref)),
    },
    ...design.plan_agents.map(({ agent_name: name }) => ({
      ...shared,
      path: treePaths.agentInstructions(name),
      render: (texts: RecordTexts) =>
        renderAgentInstructions(textOf(texts.coordination_plans, ref), name),
    })),
  ];
}

/**
 * Returns the path of a completed delegation's output: below the agent of the plan whose task it does, otherwise below the
 * registered agent that did it.
 */
export function outputPath(
  { design }: Pick<RunRecord, 'design'>,
  { agent_id, delegation_id }: Pick<Deliverable, 'agent_id' | 'delegation_id'>,
): string {
  const tasks = (design?.plan_agents ?? []).flatMap(({ agent_name, task_ids }) =>
    task_ids.map((task_id) => ({ task_id, agent_name })),
  );
  const name = findTask(tasks, delegation_id)?.agent_name ?? agent_id;
  return treePaths.taskOutput(name, delegation_id);
}

/** Returns the result of the interview; null without one. */
export function interviewRef(design: RecordedDesign | undefined): Ref | null {
  return design?.materials.findLast(({ stage }) => stage === 'interview')?.ref ?? null;
}

/** Renders the conversation summary of a design, in the format of seed 003. */
export function renderInterview(texts: RecordTexts, ref: Ref): string {
  return renderConversationSummary(textOf(texts.conversation_summaries, ref));
}

/** Describes the status of each agent of a plan, in the format of seed 003. */
export function describePlanStatus(record: RunRecord, ref: Ref, texts: RecordTexts): object {
  const plan = textOf(texts.coordination_plans, ref);
  const last = record.waves.at(-1);
  const working =
    last?.status === 'running' && last.plan_ref !== null
      ? textOf(texts.plans, last.plan_ref).delegations.map((one) => one.delegation_id)
      : [];
  return projectSharedStatus(plan, {
    status: record.status ?? record.phase,
    session_start: record.started_at,
    tasks: plan.tasks.flatMap((task) => stateOf(record, plan.tasks, task, working) ?? []),
  });
}

function stateOf(
  { waves, criteria }: RunRecord,
  tasks: CoordinationPlan['tasks'],
  task: PlanTask,
  working: readonly string[],
): PlanTaskState | null {
  const { task_id } = task;
  if (working.some((id) => findTask(tasks, id) === task)) {
    const last_update = waves.at(-1)?.planned_at ?? null;
    return { task_id, status: 'working', last_update, notes: null };
  }
  const open = new Set(
    criteria.filter(({ state }) => state === 'open').map(({ criterion_id }) => criterion_id),
  );
  const isDone = task.validation.evidence.every(({ evidence_id }) => !open.has(evidence_id));
  const wave = waves.findLast(({ outcomes }) =>
    outcomes.some((one) => findTask(tasks, one.delegation_id) === task),
  );
  const outcome = wave?.outcomes.findLast((one) => findTask(tasks, one.delegation_id) === task);
  if (outcome === undefined && !isDone) return null;
  const status: PlanTaskStatus = isDone
    ? 'verified'
    : outcome?.status === 'completed'
      ? 'ready_for_verification'
      : 'failed';
  return { task_id, status, last_update: wave?.done_at ?? null, notes: null };
}

/** Renders what the work has shown of the plan, and how the plan was changed; null without either. */
export function renderAdaptations({ run_id, design }: RunRecord): string | null {
  const { adaptations = [], plan_refs = [] } = design ?? {};
  if (adaptations.length === 0) return null;
  const lines = adaptations.map(({ wave, cause, plan_ref, changed_tasks, approved_by }) => {
    const version = plan_ref === null ? 0 : plan_refs.indexOf(plan_ref) + 1;
    const change =
      version === 0
        ? 'The plan stayed as it was.'
        : `The plan has version ${version} since then${approved_by === null ? '' : `, by your answer to ${approved_by}`}: ${changed_tasks.join(', ')}. See \`planwave plan diff ${run_id}@${version - 1} ${run_id}@${version}\`.`;
    return `Wave ${wave}, ${describeCause(cause)} ${change}`;
  });
  return `## What the work showed of the plan\n\n${bullets(lines, '')}`;
}

function describeCause(cause: AdaptationCause): string {
  if (cause.type === 'loop') {
    return `\`${cause.task_id}\` asked the same again and again: ${cause.root_cause.replaceAll('_', ' ')}.`;
  }
  return `proof of concept \`${cause.task_id}\`: ${cause.assessment}, so ${cause.decision}.`;
}
