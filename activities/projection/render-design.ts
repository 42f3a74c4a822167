import type { AdaptationCause } from '../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../contracts/design-run.ts';
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { AgentStatusValue, SessionReport } from '../../contracts/note.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { countVersions, describeDesignBalance } from '../../core/design/judge-design.ts';
import { findArchitect } from '../../core/design/architect-task.ts';
import { findTask } from '../../core/design/next-wave.ts';
import {
  projectSharedStatus,
  renderConversationSummary,
  renderCoordinationPlan,
  type PlanTaskState,
} from '../../core/design/render-plan.ts';
import { isDecisionTask, waveOfDecision } from '../../core/ids.ts';
import { statusAtEnd } from '../../core/notes/agent-status.ts';
import { renderAgentInstructions, type DecisionTasks } from '../../core/design/templates.ts';
import { askersOf } from '../../core/questions/check-asked-questions.ts';
import { bullets } from '../../core/text/markdown.ts';
import type { Deliverable } from '../../core/run/list-deliverables.ts';
import { treePaths } from './paths.ts';
import { describeState } from './render-shared-status.ts';
import { textOf, type ProjectedFile, type RecordTexts } from './record-texts.ts';

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
  const plans = plansOfDecisions(record);
  return [
    {
      ...shared,
      path: treePaths.coordinationPlan,
      render: (texts) => renderCoordinationPlan(textOf(texts.coordination_plans, ref)),
    },
    ...design.plan_agents.map(({ agent_name: name }) => ({
      path: treePaths.agentInstructions(name),
      of: [ref, plans],
      needs: { ...shared.needs, plans },
      render(texts: RecordTexts) {
        const plan = textOf(texts.coordination_plans, ref);
        return renderAgentInstructions(plan, name, listDecisions(plan, plans, texts));
      },
    })),
  ];
}

/** Returns the plans of the waves in which the solution architect decided questions. */
function plansOfDecisions({ sessions = [], waves }: RunRecord): readonly Ref[] {
  const decided = new Set(sessions.map(({ delegation_id }) => waveOfDecision(delegation_id)));
  return waves.flatMap(({ wave, plan_ref }) =>
    plan_ref !== null && decided.has(wave) ? [plan_ref] : [],
  );
}

function listDecisions(
  { agents }: CoordinationPlan,
  plans: readonly Ref[],
  texts: RecordTexts,
): DecisionTasks {
  const tasks = plans
    .flatMap((ref) => textOf(texts.plans, ref).delegations)
    .filter(({ delegation_id }) => isDecisionTask(delegation_id));
  return { by: findArchitect({ plan_ref: '', agents }), tasks };
}

/**
 * Returns the path of a completed delegation's output: below the agent of the plan whose task it does, otherwise below the
 * registered agent that did it.
 */
export function outputPath(
  { design }: Pick<RunRecord, 'design'>,
  { agent_id, delegation_id }: Pick<Deliverable, 'agent_id' | 'delegation_id'>,
): string {
  return treePaths.taskOutput(agentNameOf({ design }, { agent_id, delegation_id }), delegation_id);
}

/** Returns the agent of the plan whose task a delegation does, otherwise the registered agent. */
export function agentNameOf(
  { design }: { readonly design?: RecordedDesign | undefined },
  { agent_id, delegation_id }: Pick<Deliverable, 'agent_id' | 'delegation_id'>,
): string {
  const agents = design?.plan_agents ?? [];
  if (isDecisionTask(delegation_id))
    return agents.find(({ decides }) => decides)?.agent_name ?? agent_id;
  const tasks = agents.flatMap(({ agent_name, task_ids }) =>
    task_ids.map((task_id) => ({ task_id, agent_name })),
  );
  return findTask(tasks, delegation_id)?.agent_name ?? agent_id;
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
  const decisions = (record.sessions ?? []).filter((one) => isDecisionTask(one.delegation_id));
  const all = [...plan.tasks, ...decisions.map((one) => decisionTask(plan, one))];
  return projectSharedStatus(
    { ...plan, tasks: all },
    {
      status: describeState(record),
      session_start: record.started_at,
      tasks: [
        ...plan.tasks.flatMap((task) => stateOf(record, plan.tasks, task, working) ?? []),
        ...decisions.map((one) => stateOfDecision(record, one)),
      ],
    },
  );
}

/** Returns a decision as a task of the solution architect, which the plan does not list. */
function decisionTask({ agents }: CoordinationPlan, { delegation_id }: SessionReport): PlanTask {
  const architect = findArchitect({ plan_ref: '', agents });
  return {
    task_id: delegation_id,
    title: delegation_id,
    agent: architect?.agent_name ?? '',
    instructions: '',
    inputs: [],
    outputs: [],
    depends_on: [],
    validation: { verified_by: architect?.verifier_name ?? '', evidence: [] },
    proof_of_concept: null,
  };
}

function stateOfDecision(record: RunRecord, session: SessionReport): PlanTaskState {
  const { waves, status: end } = record;
  const { delegation_id: task_id, at: last_update } = session;
  const ended = waves
    .flatMap(({ outcomes }) => outcomes)
    .findLast((one) => one.delegation_id === task_id);
  const isVerified = ended?.verification?.status === 'verified';
  const isOver = end !== null;
  return {
    task_id,
    status:
      ended === undefined
        ? statusAtWork(record, session)
        : statusAtEnd({ status: ended.status, isVerified, isOver }),
    last_update,
    notes: notesOf(session),
  };
}

/** Returns the status of work in progress. Whoever waits for the user is blocked, also for a decision on its verification. */
function statusAtWork(
  { open_questions }: Pick<RunRecord, 'open_questions'>,
  { delegation_id, status }: SessionReport,
): AgentStatusValue {
  const waits = open_questions.some((one) =>
    askersOf(one).some((asker) => asker.delegation_id === delegation_id),
  );
  return waits ? 'blocked' : status;
}

function stateOf(
  record: RunRecord,
  tasks: CoordinationPlan['tasks'],
  task: PlanTask,
  working: readonly string[],
): PlanTaskState | null {
  const { task_id } = task;
  const isOf = (id: string): boolean => findTask(tasks, id) === task;
  const session = record.sessions?.findLast((one) => isOf(one.delegation_id));
  const atWork = working.find(isOf);
  if (atWork === undefined) return stateAtEnd(record, task, isOf, session);
  // Each agent reports its session when it begins; one without has not begun.
  if (session?.delegation_id !== atWork) return null;
  const status = statusAtWork(record, session);
  return { task_id, status, last_update: session.at, notes: notesOf(session) };
}

function stateAtEnd(
  record: RunRecord,
  task: PlanTask,
  isOf: (delegation_id: string) => boolean,
  session: SessionReport | undefined,
): PlanTaskState | null {
  const isDone = hasAllEvidence(record, task);
  const wave = record.waves.findLast((one) => outcomeIn(one, isOf) !== undefined);
  const outcome = wave === undefined ? undefined : outcomeIn(wave, isOf);
  if (outcome === undefined && !isDone) return null;
  const isOver = isDone && record.status !== null;
  const status = isDone
    ? statusAtEnd({ status: 'completed', isVerified: true, isOver })
    : statusOfOpen(outcome);
  const last_update = wave?.done_at ?? session?.at ?? null;
  const notes = notesOf(session, isDone && isFailed(outcome));
  return { task_id: task.task_id, status, last_update, notes };
}

const isFailed = (outcome: DelegationOutcome | undefined): boolean => outcome?.status === 'failed';

/** Returns the status of a task whose evidence is not complete. */
function statusOfOpen(outcome: DelegationOutcome | undefined): AgentStatusValue {
  const isVerified = outcome?.verification?.status === 'verified';
  return statusAtEnd({ status: outcome?.status ?? 'skipped', isVerified, isOver: false });
}

/** Returns true when the record has all evidence of a task. Before the plan is approved it has none. */
function hasAllEvidence({ criteria }: RunRecord, { validation }: PlanTask): boolean {
  const settled = new Set(
    criteria.filter(({ state }) => state !== 'open').map(({ criterion_id }) => criterion_id),
  );
  return validation.evidence.every(({ evidence_id }) => settled.has(evidence_id));
}

function outcomeIn(
  { outcomes }: StoredWave,
  isOf: (delegation_id: string) => boolean,
): DelegationOutcome | undefined {
  return outcomes.findLast((one) => isOf(one.delegation_id));
}

/**
 * @param isReplaced True for a failed attempt whose evidence other work has met: nothing waits for its notes any more.
 * @returns null for an agent that keeps no notes.
 */
function notesOf(session: SessionReport | undefined, isReplaced = false): PlanTaskState['notes'] {
  if (session === undefined) return null;
  return { count: session.count, unresolved: isReplaced ? 0 : session.unresolved };
}

/** Renders what the work has shown of the plan, and how the plan was changed; null without either. */
export function renderAdaptations({
  run_id,
  design,
}: Pick<RunRecord, 'run_id' | 'design'>): string | null {
  const { adaptations = [], plan_refs = [] } = design ?? {};
  if (adaptations.length === 0) return null;
  const lines = adaptations.map((one) => {
    const { wave, cause, plan_ref, changed_tasks, approved_by } = one;
    const version = plan_ref === null ? 0 : plan_refs.indexOf(plan_ref) + 1;
    const change =
      version === 0
        ? 'The plan stayed as it was.'
        : `The plan has version ${version} since then${approved_by === null ? '' : `, by your answer to ${approved_by}`}: ${changed_tasks.join(', ')}. See \`planwave plan diff ${run_id}@${version - countVersions(one)} ${run_id}@${version}\`.`;
    return `Wave ${wave}, ${describeCause(cause)} ${change}`;
  });
  return `## What the work showed of the plan\n\n${bullets(lines, '')}`;
}

/** Renders whether the design paid off, as far as the record shows it. Null for a run without a design. */
export function renderDesignBalance(record: RunRecord): string | null {
  const lines = describeDesignBalance(record);
  return lines === null ? null : `## Did the design pay off?\n\n${bullets(lines, '')}`;
}

function describeCause(cause: AdaptationCause): string {
  if (cause.type === 'loop' && cause.cycle !== undefined) {
    return `\`${cause.task_id}\` waits for a result in a cycle: ${cause.cycle.join('→')}.`;
  }
  if (cause.type === 'loop') {
    return `\`${cause.task_id}\` asked the same again and again: ${cause.root_cause.replaceAll('_', ' ')}.`;
  }
  if (cause.type === 'escalation') {
    return `answers to \`${cause.task_id}\` (${cause.question_ids.join(', ')}) contradict what others stated.`;
  }
  return `proof of concept \`${cause.task_id}\`: ${cause.assessment}, so ${cause.decision}.`;
}
