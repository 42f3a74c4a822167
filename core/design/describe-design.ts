/**
 * Describes a plan for the question whether it is approved: what a person needs to decide, on one page.
 *
 * Invariants:
 *   DSC1. The text names the address of the plan, so that the answer belongs to exactly this plan.
 *   DSC2. It fits into a question; what the work is expected to use, and the findings that are left, are in it however long
 *        the rest is.
 *   DSC3. After a change it names what differs from the plan that the user saw last.
 *   DSC4. It shows what each new agent may do, however long the rest is, and how much of the research was looked up.
 */
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import type { TechnologyResearch } from '../../contracts/design.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { cutText } from '../text/cut-text.ts';
import {
  countOf,
  formatCount,
  formatCost,
  formatDuration,
  formatUsage,
  commandText,
} from '../text/format.ts';
import { oneLine } from '../text/markdown.ts';
import { triadTurns } from '../budget/estimate-fan-out.ts';
import { listLayers } from './graph.ts';
import { diffPlans } from './diff-plans.ts';
import type { PlanAgent } from '../../contracts/design-run.ts';
import type { PlannedTask } from '../../contracts/run-log.ts';
import type { Spending } from '../../contracts/budget.ts';

/** Most characters of the text, equal to the limit of a question. */
const textCharsMax = 2_000;
/** Most characters of the findings in it, and of one of them. */
const findingsCharsMax = 400;
const findingCharsMax = 200;
/** Most characters of the new agents with their tools. */
const draftsCharsMax = 500;
/** Calls of one task: one that loads what it reads, one that answers. */
const callsEach = 2;
/** Calls of a verification, and those of them that follow one another: a triad works in three phases before its verdict. */
const verifications = {
  alone: { calls: 1, inARow: 1 },
  triad: { calls: triadTurns + 1, inARow: 4 },
} as const;
/** Calls of the planner for each wave: its decision, and a review of questions. */
const callsPerWave = 2;

export interface DesignUse {
  readonly usage: Usage;
  /** Milliseconds of all its calls together. */
  readonly worked_ms: number;
}

export interface PlanEstimate extends Spending, Pick<Usage, 'unpriced_calls'> {
  /** Seconds along the longest chain of tasks; null before anything is measured. */
  readonly seconds: number | null;
}

/** Estimates the use of the work from the design's calls, which read and write texts of the same kind. */
export function estimatePlan(
  { agents, tasks }: Pick<CoordinationPlan, 'agents' | 'tasks'>,
  { usage, worked_ms }: DesignUse,
): PlanEstimate {
  const triads = agents.flatMap(({ agent_name, triad }) => (triad === undefined ? [] : agent_name));
  const verificationOf = ({ validation }: PlanTask) =>
    verifications[triads.includes(validation.verified_by) ? 'triad' : 'alone'];
  const layers = listLayers(tasks);
  const calls =
    tasks.reduce((sum, task) => sum + callsEach + verificationOf(task).calls, 0) +
    layers.length * callsPerWave;
  const measured = Math.max(1, usage.calls);
  const tokens =
    usage.input_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens +
    usage.output_tokens;
  const chain = layers
    .map((layer) => Math.max(...layer.map((task) => verificationOf(task).inARow)))
    .reduce((sum, inARow) => sum + callsEach + inARow + callsPerWave, 0);
  return {
    calls,
    tokens: Math.round((tokens / measured) * calls),
    cost_micro_usd: Math.round((usage.cost_micro_usd / measured) * calls),
    // Nothing measured is no price either.
    unpriced_calls:
      usage.calls === 0 ? calls : Math.ceil((usage.unpriced_calls / measured) * calls),
    seconds: usage.calls === 0 ? null : Math.round((worked_ms / measured / 1_000) * chain),
  };
}

/** Contents of the question whether a plan is approved. */
export interface DescribedDesign {
  readonly run_id: string;
  readonly plan: CoordinationPlan;
  readonly plan_ref: Ref;
  /** The version that the user saw last; null the first time. */
  readonly shown: CoordinationPlan | null;
  readonly research: readonly TechnologyResearch[];
  readonly findings: readonly PlanFinding[];
  /** Artifact with everything about the findings; null for none. */
  readonly findings_ref: Ref | null;
  /** Remarks of the last review, which call for no change. */
  readonly remarks: readonly string[];
  readonly use: DesignUse;
}

export function describeDesign(described: DescribedDesign): string {
  const { run_id, plan, plan_ref, shown, research, findings, findings_ref, remarks, use } =
    described;
  const lines = [
    `Approve the plan ${plan_ref.slice(0, 12)}? ${cutText(describeSummary(plan.summary), 400)}`,
    ...(shown === null ? [] : [`Changed since you saw it: ${describeChanges(shown, plan)}`]),
    ...describeAgents(plan),
    ...describeOrder(plan),
    describeRisks(plan),
    ...describeResearch(research),
    ...(remarks.length === 0
      ? []
      : [`Remarks of the review: ${cutText(remarks.map(oneLine).join(' · '), 300)}`]),
  ];
  return keepEnd(lines.join('\n'), [
    ...describeDrafts(plan.new_agents),
    ...describeFindings(findings, findings_ref),
    `Used so far: ${formatUsage(use.usage)}.`,
    describeEstimate(plan, use),
    `Whole: workflow_coordination_plan.md in the folder of the run, or as YAML: ${commandText('plan', 'export', run_id)}`,
  ]);
}

/** Joins the text of a question and its last lines, which are kept however long the text is. */
export function keepEnd(text: string, lines: readonly string[]): string {
  const end = lines.join('\n');
  return `${cutText(text, textCharsMax - end.length - 1)}\n${end}`;
}

/**
 * Words the findings that are left: their number, the first of them, and where all are.
 *
 * @param ref Artifact with all of them; null for none.
 * @returns no line without findings.
 */
export function describeFindings(findings: readonly PlanFinding[], ref: Ref | null): string[] {
  if (findings.length === 0) return [];
  const named = findings.map(({ path, message }) =>
    cutText(oneLine(`${path}: ${message}`), findingCharsMax),
  );
  return [
    `${countOf(findings.length, 'finding')} left: ${cutText(named.join(' · '), findingsCharsMax)}`,
    ...(ref === null ? [] : [`All findings: ${commandText('artifact', ref)}`]),
  ];
}

/** Names new agents with what each may do. @returns no line without any. */
export function describeDrafts(drafts: CoordinationPlan['new_agents']): string[] {
  if (drafts.length === 0) return [];
  const charsMax = Math.floor(draftsCharsMax / drafts.length) - 2;
  const named = drafts.map(({ agent_id, tools }) =>
    nameDraft(agent_id, tools.map(oneLine), charsMax),
  );
  return [`New agents: ${named.join('; ')}`];
}

/** @returns `migrator (read_file, write_file and 2 more)`, with as many tools as there is room for. */
function nameDraft(agent_id: string, tools: readonly string[], charsMax: number): string {
  if (tools.length === 0) return `${agent_id} (no tools)`;
  const names = tools.map((_, at) => {
    const shown = tools.slice(0, tools.length - at).join(', ');
    return `${agent_id} (${shown}${at === 0 ? '' : ` and ${at} more`})`;
  });
  return (
    names.find((name) => name.length <= charsMax) ??
    `${agent_id} (${countOf(tools.length, 'tool')})`
  );
}

/** Brings each list of a summary to the line of its title. */
function describeSummary(summary: string): string {
  const lines = summary.split('\n').map((line) => oneLine(line).trim());
  return lines
    .reduce((whole, line) => {
      if (!line.startsWith('- ')) return line === '' ? whole : `${whole}\n${line}`;
      return `${whole}${whole.endsWith(':') ? '' : ';'} ${line.slice(2)}`;
    })
    .trim();
}

function describeChanges(shown: CoordinationPlan, plan: CoordinationPlan): string {
  const differences = diffPlans(shown, plan);
  if (differences.length === 0) return 'nothing.';
  const named = differences.map(({ kind, path }) => `${path} ${kind}`);
  return `${countOf(differences.length, 'difference')}: ${cutText(named.join('; '), 250)}`;
}

function describeAgents({ agents, new_agents }: CoordinationPlan): string[] {
  const named = agents.map(({ agent_name, agent_id, role }) =>
    role === 'doer'
      ? `${agent_name} (${agent_id})`
      : `${agent_name} (${agent_id}, ${role.replaceAll('_', ' ')})`,
  );
  // What they may do stands at the end.
  const drafts = new_agents.map(
    ({ agent_id, description }) => `${agent_id}: ${cutText(oneLine(description), 120)}`,
  );
  return [
    `Agents: ${cutText(named.join(', '), 300)}`,
    ...(drafts.length === 0 ? [] : [`Work of new agents: ${cutText(drafts.join(' · '), 300)}`]),
  ];
}

function describeOrder({ tasks }: CoordinationPlan): string[] {
  const layers = listLayers(tasks);
  const proofs = tasks.filter((task) => task.proof_of_concept !== null).length;
  const steps = layers.map((layer, at) => {
    const named = layer.map(({ title, agent, proof_of_concept }) => {
      const mark = proof_of_concept === null ? '' : ', proof of concept';
      return `${title} (${agent}${mark})`;
    });
    return oneLine(`${at + 1}. ${named.join('; ')}`);
  });
  return [
    `${countOf(tasks.length, 'task')} in ${countOf(layers.length, 'step')}, ${countOf(proofs, 'proof', 'proofs')} of concept:`,
    cutText(steps.join('\n'), 500),
  ];
}

function describeRisks({ risks }: CoordinationPlan): string {
  if (risks.length === 0) return 'No risks were found.';
  // The gravest come first: what is too long loses its end.
  const gravest = risks.toSorted((a, b) => weightOf(b) - weightOf(a));
  const named = gravest.map(
    ({ assumption, likelihood, impact }) =>
      `${oneLine(assumption)} (likelihood ${likelihood}, impact ${impact})`,
  );
  return `Risks: ${cutText(named.join(' · '), 250)}`;
}

const levels = ['low', 'medium', 'high'] as const;

function weightOf({ likelihood, impact }: CoordinationPlan['risks'][number]): number {
  return (levels.indexOf(likelihood) + 1) * (levels.indexOf(impact) + 1);
}

/** Says for each technology whether anybody looked it up. */
function describeResearch(research: readonly TechnologyResearch[]): string[] {
  if (research.length === 0) return [];
  const named = research.map(({ technology, sources }) => {
    const opened = sources.filter(({ url }) => url !== null).length;
    const how = opened === 0 ? 'background knowledge' : countOf(opened, 'page');
    return `${oneLine(technology)}: ${how}`;
  });
  return [`Research: ${cutText(named.join(' · '), 200)}`];
}

function describeEstimate(plan: CoordinationPlan, use: DesignUse): string {
  return `Expected besides: ${formatEstimate(estimatePlan(plan, use))} of the design.`;
}

export function formatEstimate({ calls, tokens, seconds, ...priced }: PlanEstimate): string {
  const time = seconds === null ? '' : `, ${formatDuration(seconds)}`;
  const cost = formatCost({ ...priced, unreported_cost_micro_usd: 0 });
  return `about ${calls} calls, ${formatCount(tokens)} tokens, ${cost}${time}, estimated from the calls`;
}

/** Quotes the tasks of a plan as the record keeps them: the evidence of each task is what it has to meet. */
export function quoteTasks({ tasks }: Pick<CoordinationPlan, 'tasks'>): PlannedTask[] {
  return tasks.map(({ task_id, validation }) => ({
    delegation_id: task_id,
    acceptance_criteria: validation.evidence.map(({ evidence_id, description }) => ({
      criterion_id: evidence_id,
      description: description.slice(0, criterionCharsMax),
    })),
  }));
}

export function quoteAgents({
  agents,
  tasks,
}: Pick<CoordinationPlan, 'agents' | 'tasks'>): PlanAgent[] {
  return agents.map(({ agent_name, role }) => ({
    agent_name,
    ...(role === 'solution_architect' && { decides: true }),
    task_ids: tasks.filter(({ agent }) => agent === agent_name).map(({ task_id }) => task_id),
  }));
}

/** Equal to the contract's limit for a criterion. */
const criterionCharsMax = 1_000;
