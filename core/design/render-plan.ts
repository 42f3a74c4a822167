/**
 * Renders a plan, the summary of its interview and its state for people, in the formats of seed 003.
 *
 * Invariants:
 *   RC1. The page has the roster, the order, each task with its files and evidence, the risks and the escalation of the plan.
 *   RC2. Texts of the plan can't end a table, a heading or a code block of the page.
 *   RC3. A field of the shared status is there only if it is known: a count of notes, or a gate, that was never determined
 *        would claim a check that nothing made.
 */
import type { CoordinationPlan, PlanTask } from '../../contracts/coordination-plan.ts';
import type { ConversationSummary } from '../../contracts/design.ts';
import type { AgentStatusValue } from '../../contracts/note.ts';
import { countOf } from '../text/format.ts';
import { bullet, bullets, codeSpan, embedMarkdown } from '../text/markdown.ts';
import { joinSections, oneLine, table } from '../text/markdown.ts';
import { drawMermaid, listLayers } from './graph.ts';

/** Renders `workflow_coordination_plan.md`. */
export function renderCoordinationPlan(plan: CoordinationPlan): string {
  const { tasks } = plan;
  return joinSections([
    `# Workflow Coordination Plan: ${oneLine(plan.task_name)}`,
    `## Goal\n${embed(plan.goal)}`,
    `## Summary\n${embed(plan.summary)}`,
    `## Agent Roster\n${renderRoster(plan)}`,
    plan.new_agents.length === 0 ? null : `## New Agents\n${renderNewAgents(plan)}`,
    `## Sequence\n${renderSequence(plan)}`,
    `\`\`\`mermaid\n${drawMermaid(plan)}\n\`\`\``,
    `## Tasks`,
    ...tasks.map((task) => renderTask(task)),
    `## Validation Checkpoints\n${renderCheckpoints(tasks)}`,
    `## File Communication Contracts\n${renderContracts(tasks)}`,
    `## Risks\n${renderRisks(plan)}`,
    `## Escalation Procedures\n${bullets(plan.escalation, 'None.')}`,
  ]);
}

const textCharsMax = 100_000;

function embed(text: string): string {
  return embedMarkdown(text, { charsMax: textCharsMax, whole: 'the plan', depth: 2 }).trim();
}

function renderRoster({ agents, tasks }: CoordinationPlan): string {
  const rows = agents.map(({ agent_name, role, responsibility, agent_id, triad }) => {
    const own = tasks.filter(({ agent }) => agent === agent_name);
    const waitsFor = new Set(
      own
        .flatMap(({ depends_on }) => depends_on)
        .flatMap((id) => tasks.find(({ task_id }) => task_id === id)?.agent ?? []),
    );
    const others = [...waitsFor].filter((name) => name !== agent_name);
    return [
      agent_name,
      role.replaceAll('_', ' '),
      responsibility,
      triad === undefined ? agent_id : `${agent_id}, for a ${triad.type} triad`,
      others.join(', ') || '–',
    ];
  });
  return table(['Agent', 'Role', 'Responsibility', 'Registered agent', 'Depends on'], rows);
}

function renderNewAgents({ new_agents }: CoordinationPlan): string {
  const rows = new_agents.map(({ agent_id, description, tools, risk_level }) => [
    agent_id,
    description,
    tools.join(', ') || 'none',
    risk_level,
  ]);
  return table(['Agent', 'When to use it', 'Tools', 'Risk'], rows);
}

function renderSequence({ tasks, max_parallel }: CoordinationPlan): string {
  const steps = listLayers(tasks).map((layer, at) => {
    const names = layer.map(({ task_id, agent }) => `${task_id} (${agent})`).join(', ');
    const how = layer.length === 1 ? '' : ', in parallel';
    return `${at + 1}. ${countOf(layer.length, 'task')}${how}: ${names}`;
  });
  const rule = `A task starts when all it depends on is verified; at most ${countOf(max_parallel, 'task')} at the same time.`;
  return [rule, '', ...steps].join('\n');
}

function renderTask(task: PlanTask): string {
  const { task_id, title, agent, depends_on, inputs, outputs, validation } = task;
  const files = inputs.map(({ path, format, from }) => {
    const source = from === null ? 'exists already' : `from ${from}`;
    return bullet(`${codeSpan(path, 200)}: ${oneLine(format)} (${source})`);
  });
  return [
    `### ${oneLine(title)}`,
    '',
    `- Task: ${codeSpan(task_id, 60)}, by ${agent}${task.proof_of_concept === null ? '' : ', a proof of concept'}`,
    `- Depends on: ${depends_on.join(', ') || 'nothing'}`,
    `- Verified by: ${validation.verified_by}`,
    '',
    'Reads:',
    ...(files.length === 0 ? ['- Nothing.'] : files),
    '',
    'Writes:',
    bullets(
      outputs.map(({ path, format }) => `${codeSpan(path, 200)}: ${oneLine(format)}`),
      '- Nothing.',
    ),
    '',
    'Instructions:',
    '',
    embedMarkdown(task.instructions, {
      charsMax: textCharsMax,
      whole: 'the plan',
      depth: 3,
    }).trim(),
  ].join('\n');
}

function renderCheckpoints(tasks: readonly PlanTask[]): string {
  const rows = tasks.flatMap(({ task_id, validation: { verified_by, evidence } }) =>
    evidence.map(({ evidence_id, description }) => [
      task_id,
      verified_by,
      evidence_id,
      description,
    ]),
  );
  return table(['Task', 'Verifier', 'Evidence', 'What must be seen'], rows);
}

function renderContracts(tasks: readonly PlanTask[]): string {
  const rows = tasks.flatMap(({ task_id, outputs }) =>
    outputs.map(({ path, format }) => {
      const readers = tasks.filter(({ inputs }) =>
        inputs.some((input) => input.from === task_id && input.path === path),
      );
      const names = readers.map((reader) => reader.task_id).join(', ');
      return [path, format, task_id, names || '–'];
    }),
  );
  return table(['File', 'Format', 'Written by', 'Read by'], rows);
}

function renderRisks({ risks, tasks }: CoordinationPlan): string {
  if (risks.length === 0) return 'None.';
  const rows = risks.map(({ risk_id, assumption, likelihood, impact, mitigation }) => {
    const proofs = tasks.filter(({ proof_of_concept: proof }) => proof?.risk_id === risk_id);
    const names = proofs.map(({ task_id }) => task_id).join(', ');
    return [risk_id, assumption, likelihood, impact, mitigation, names || '–'];
  });
  const headers = ['Risk', 'Assumption', 'Likelihood', 'Impact', 'Mitigation', 'Proof of concept'];
  return table(headers, rows);
}

/** Renders `conversation_summary_<taskname>.md` from the result of an interview. */
export function renderConversationSummary(summary: ConversationSummary): string {
  const decisions = summary.decisions.map(({ decision, rationale, alternatives }) =>
    [
      `Decision: ${oneLine(decision)}`,
      `- Rationale: ${oneLine(rationale)}`,
      `- Alternatives considered: ${oneLine(alternatives)}`,
    ].join('\n'),
  );
  const resolved = summary.questions_resolved.map(
    ({ question, answer }) => `- Q: ${oneLine(question)}\n- A: ${oneLine(answer)}`,
  );
  return joinSections([
    `# Conversation Summary: ${oneLine(summary.task_name)}`,
    `## What We're Trying to Accomplish\n${embed(summary.accomplish)}`,
    `## Key Decisions Made\n${bullets(decisions, '- None.')}`,
    `## Constraints & Assumptions\n${bullets(summary.constraints.map(oneLine), '- None.')}`,
    `## Questions Resolved\n${resolved.join('\n\n') || '- None.'}`,
    `## Open Items\n${bullets(summary.open_items.map(oneLine), '- None.')}`,
    `## Dependencies & Integration Points\n${bullets(summary.integration_points.map(oneLine), '- None.')}`,
  ]);
}

/** State of one task, as far as it is known. */
export interface PlanTaskState {
  readonly task_id: string;
  readonly status: AgentStatusValue;
  /** Unix epoch seconds; null before it started. */
  readonly last_update: number | null;
  /** Null where nobody counts notes. */
  readonly notes: { readonly count: number; readonly unresolved: number } | null;
}

/** State of the whole work on a plan. */
export interface PlanState {
  readonly status: string;
  /** Unix epoch seconds. */
  readonly session_start: number;
  /** Tasks without an entry are pending. */
  readonly tasks: readonly PlanTaskState[];
}

/** Statuses of an agent with several tasks: the first one that any of them has. */
const statusOrder: readonly AgentStatusValue[] = [
  'blocked',
  'failed',
  'working',
  'completion_drive_review',
  'ready_for_verification',
  'pending',
  'verified',
  'session_complete',
];

/** Builds the object of `shared_status.json`: the agents of the plan and the verifiers of their work. */
export function projectSharedStatus(plan: CoordinationPlan, state: PlanState): object {
  const stateOf = ({ task_id }: PlanTask): PlanTaskState =>
    state.tasks.find((one) => one.task_id === task_id) ?? {
      task_id,
      status: 'pending',
      last_update: null,
      notes: null,
    };
  const workers = plan.agents.filter(({ agent_name }) =>
    plan.tasks.some(({ agent }) => agent === agent_name),
  );
  const verifiers = plan.agents.filter(({ agent_name }) =>
    plan.tasks.some(({ validation }) => validation.verified_by === agent_name),
  );
  const agents = workers.map(({ agent_name }) => {
    const own = plan.tasks.filter(({ agent }) => agent === agent_name);
    return [agent_name, describeAgent(plan, own, own.map(stateOf))];
  });
  const verification = verifiers.map(({ agent_name }) => {
    const judged = plan.tasks.filter(({ validation }) => validation.verified_by === agent_name);
    const assigned_agents = [...new Set(judged.map(({ agent }) => agent))];
    return [agent_name, { status: statusOfVerifier(judged.map(stateOf)), assigned_agents }];
  });
  const counted = plan.tasks.map(stateOf).filter(({ status }) => status !== 'pending');
  const isKnown = counted.length > 0 && counted.every(({ notes }) => notes !== null);
  const isBlocked = counted.some(({ notes }) => (notes?.unresolved ?? 0) > 0);
  return {
    task_id: plan.task_name,
    status: state.status,
    session_start: state.session_start,
    agents: Object.fromEntries(agents),
    verification: Object.fromEntries(verification),
    ...(isKnown && { overall_completion_drive_gate: isBlocked ? 'blocked' : 'open' }),
  };
}

function describeAgent(
  { tasks }: CoordinationPlan,
  own: readonly PlanTask[],
  states: readonly PlanTaskState[],
): object {
  const updates = states.flatMap(({ last_update }) => last_update ?? []);
  const notes = states.flatMap((one) => one.notes ?? []);
  const sum = (key: 'count' | 'unresolved'): number =>
    notes.reduce((total, one) => total + one[key], 0);
  const dependencies = own
    .flatMap(({ depends_on }) => depends_on)
    .flatMap((id) => tasks.find(({ task_id }) => task_id === id)?.agent ?? []);
  const others = [...new Set(dependencies)].filter((name) => name !== own[0]?.agent);
  return {
    status: statusOrder.find((status) => states.some((one) => one.status === status)),
    ...(notes.length > 0 && {
      completion_drive_notes_count: sum('count'),
      unresolved_notes: sum('unresolved'),
    }),
    ...(others.length > 0 && { dependencies: others }),
    last_update: updates.length === 0 ? null : Math.max(...updates),
  };
}

/** Returns the status of a verifier by that of the work it judges. */
export function statusOfVerifier(
  states: readonly Pick<PlanTaskState, 'status'>[],
): AgentStatusValue {
  const isDone = ({ status }: Pick<PlanTaskState, 'status'>): boolean =>
    status === 'verified' || status === 'session_complete';
  if (states.every(isDone)) return 'verified';
  return states.some(({ status }) => status === 'ready_for_verification') ? 'working' : 'pending';
}
