/**
 * Describes a plan for the question whether it is approved: what a person needs to decide, on one page.
 *
 * Invariants:
 *   DSC1. The text names the address of the plan, so that the answer belongs to exactly this plan.
 *   DSC2. It fits into a question; of lists that are too long it says how much is left out.
 */
import type { CoordinationPlan, PlanFinding } from '../../contracts/coordination-plan.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { cutText } from '../text/cut-text.ts';
import { countOf, formatDollars, formatDuration } from '../text/format.ts';
import { oneLine } from '../text/markdown.ts';
import { listLayers } from './graph.ts';

/** Most characters of the text, equal to the limit of a question. */
const textCharsMax = 2_000;
/** Calls of one task: one that loads what it reads, one that answers. */
const callsEach = 2;
/** Calls of the planner for each wave: its decision, and a review of questions. */
const callsPerWave = 2;

/** Use of a design so far. */
export interface DesignUse {
  readonly usage: Usage;
  /** Milliseconds of all its calls together. */
  readonly worked_ms: number;
}

export interface PlanEstimate {
  readonly calls: number;
  readonly tokens: number;
  readonly cost_micro_usd: number;
  /** Seconds along the longest chain of tasks; null before anything is measured. */
  readonly seconds: number | null;
}

/** Estimates the use of the work from the design's calls, which read and write texts of the same kind. */
export function estimatePlan(
  plan: CoordinationPlan,
  { usage, worked_ms }: DesignUse,
): PlanEstimate {
  const layers = listLayers(plan.tasks).length;
  const calls = plan.tasks.length * callsEach + layers * callsPerWave;
  const measured = Math.max(1, usage.calls);
  const tokens =
    usage.input_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens +
    usage.output_tokens;
  const chain = layers * (callsEach + callsPerWave);
  return {
    calls,
    tokens: Math.round((tokens / measured) * calls),
    cost_micro_usd: Math.round((usage.cost_micro_usd / measured) * calls),
    seconds: usage.calls === 0 ? null : Math.round((worked_ms / measured / 1_000) * chain),
  };
}

export function describeDesign(
  plan: CoordinationPlan,
  plan_ref: Ref,
  findings: readonly PlanFinding[],
  use: DesignUse,
): string {
  const { tasks, agents, risks, new_agents } = plan;
  const { calls, tokens, cost_micro_usd, seconds } = estimatePlan(plan, use);
  const proofs = tasks.filter((task) => task.proof_of_concept !== null).length;
  const steps = listLayers(tasks).map(
    (layer, at) =>
      `${at + 1}. ${layer.map(({ title, agent }) => `${title} (${agent})`).join('; ')}`,
  );
  const lines = [
    `Approve the plan ${plan_ref.slice(0, 12)}? ${cutText(oneLine(plan.summary), 400)}`,
    `Agents: ${cutText(agents.map(({ agent_name }) => agent_name).join(', '), 200)}`,
    ...(new_agents.length === 0
      ? []
      : [`New agents: ${cutText(new_agents.map((one) => one.agent_id).join(', '), 150)}`]),
    `${countOf(tasks.length, 'task')} in ${countOf(steps.length, 'step')}, ${countOf(proofs, 'proof', 'proofs')} of concept:`,
    cutText(steps.map((step) => oneLine(step)).join('\n'), 500),
    risks.length === 0
      ? 'No risks were found.'
      : `Risks: ${cutText(risks.map(({ assumption }) => oneLine(assumption)).join(' · '), 250)}`,
    ...(findings.length === 0
      ? []
      : [
          `${countOf(findings.length, 'finding')} left: ${cutText(findings.map(({ path, message }) => `${path}: ${oneLine(message)}`).join(' · '), 300)}`,
        ]),
    `Expected: about ${calls} calls, ${tokens} tokens, ${formatDollars(cost_micro_usd)}${seconds === null ? '' : `, ${formatDuration(seconds)}`}, estimated from the calls of the design.`,
    'Whole: workflow_coordination_plan.md in the folder of the run.',
  ];
  return cutText(lines.join('\n'), textCharsMax);
}
