import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { TeamEnd } from '../../contracts/team-run.ts';
import type { TriadEnd } from '../../contracts/triad-run.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { dropReplacedOutcomes } from '../../core/plan/replaced.ts';
import { readRecord } from '../run-record/read-record.ts';
import { listRecordedDetails } from '../tools/packet-details.ts';
import { readShape } from '../tools/read-artifact.ts';
import { readWhole } from '../tools/read-whole.ts';
import { blockBytesMax } from './block-limits.ts';
import { cutAtLine, listBlock, textBlock } from './blocks.ts';
import { renderAnsweredQuestions, renderOpenCriteria, renderRunBlocks } from './common-blocks.ts';
import { markData } from './mark-data.ts';
import type { PromptReader } from './prompt-reader.ts';
import { readLastWaveCompact } from './read-wave.ts';
import { renderPoolBlocks } from './render-pool-blocks.ts';
import { renderWork } from './render-work.ts';
import type { Work } from './render-work.ts';

type DecisionPrompt = Extract<Prompt, { kind: 'decision' }>;
type Outcome = DecisionPrompt['outcomes'][number];

/** The first message of a conversation in which the planner decides on what a wave brought back. */
export async function renderDecision(
  store: ArtifactStore,
  prompt: DecisionPrompt,
  { callKey }: PromptReader,
): Promise<string> {
  const record = await readRecord(store, prompt.record_ref);
  const plan = await readShape(store, prompt.plan_ref, StoredPlan, 'a wave plan');
  const agentOf = new Map(plan.delegations.map((one) => [one.delegation_id, one.agent_id]));
  const ended = await Promise.all(prompt.outcomes.map((outcome) => readEnded(store, outcome)));
  const standing = new Set(dropReplacedOutcomes(ended));
  const outcomes = ended.map((one) => ({
    delegation_id: one.delegation_id,
    agent_id: agentOf.get(one.delegation_id) ?? null,
    ...(standing.has(one) ? describeOutcome(one) : { status: one.status, replaced: true }),
  }));
  const waveCompact = await readLastWaveCompact(store, record);
  const known = listRecordedDetails(record).shown.map(({ entry }) => entry.detail_id);
  return [
    `<request kind="decision" wave="${prompt.wave}">\nDecide on wave ${prompt.wave}: check the evidence of the outcomes, resolve what contradicts itself, and write down the truth as it now stands. The open criteria are those that stay open when every outcome is taken at its word.\n</request>`,
    ...renderRunBlocks(record, prompt.amendments),
    await renderAnsweredQuestions(store, record),
    textBlock(
      'wave_compact',
      waveCompact === '' ? 'This is the first wave to be decided.' : waveCompact,
      blockBytesMax.wave_compact,
    ),
    markData(
      [
        listBlock('wave_plan', plan.delegations.map(describePlanned), blockBytesMax.wave_plan),
        listBlock('outcomes', outcomes, blockBytesMax.outcomes),
        renderWork(await readWorks(store, ended)),
        listBlock('known_details', known, blockBytesMax.known_details, 'last'),
      ].join('\n\n'),
      callKey,
    ),
    ...(await renderPoolBlocks(store, record, prompt)).map((block) => markData(block, callKey)),
    renderOpenCriteria(
      record,
      prompt.open_criteria,
      plan.delegations.flatMap((one) => one.acceptance_criteria),
    ),
  ].join('\n\n');
}

/** What a delegation was to do, and by what it is judged. */
function describePlanned(planned: WavePlan['delegations'][number]): object {
  const { delegation_id, title, task_description, acceptance_criteria } = planned;
  return { delegation_id, title, task_description, acceptance_criteria };
}

/** An outcome with what the delegation brought; null when it brought nothing. */
type Ended = Outcome & { readonly output: AgentOutput | null };

async function readEnded(store: ArtifactStore, outcome: Outcome): Promise<Ended> {
  const { output_ref } = outcome;
  if (output_ref === null) return { ...outcome, output: null };
  return {
    ...outcome,
    output: await readShape(store, output_ref, AgentOutput, "an agent's output"),
  };
}

/** What was replaced within the wave is left out: its newer version is there. */
async function readWorks(store: ArtifactStore, ended: readonly Ended[]): Promise<Work[]> {
  const works = await Promise.all(
    dropReplacedOutcomes(ended).map(async ({ delegation_id, output, files = [] }) =>
      output === null ? [] : [{ delegation_id, text: await readWhole(store, output, files) }],
    ),
  );
  return works.flat();
}

function describeOutcome(outcome: Ended): Record<string, unknown> {
  const { status, reason, criteria_met, criteria_unmet, output } = outcome;
  const { triad_end, team_end, replaces } = outcome;
  const executor = {
    ...(replaces !== undefined && { replaces }),
    ...(triad_end !== undefined && { triad: describeTriad(triad_end) }),
    ...(team_end !== undefined && { team: describeTeam(team_end) }),
  };
  if (output === null) {
    return {
      ...executor,
      status,
      reason,
      criteria_met: [],
      criteria_unmet: criteria_unmet.map((criterion_id) => ({ criterion_id, reason })),
      compact_md: '',
      assumptions_made: [],
      facts: [],
      optional_questions: [],
      missing_info_requests: [],
      effects_confirmed: [],
    };
  }
  const { coverage, assumptions_made, facts, optional_questions, effects_claimed } = output;
  const { missing_info_requests } = output;
  const evidence = new Map(
    coverage.criteria_met.map(({ criterion_id, ...shown }) => [criterion_id, shown]),
  );
  const reasons = new Map(coverage.criteria_unmet.map((one) => [one.criterion_id, one.reason]));
  return {
    ...executor,
    status,
    reason,
    criteria_met: criteria_met.map((criterion_id) => ({
      criterion_id,
      ...evidence.get(criterion_id),
    })),
    criteria_unmet: criteria_unmet.map((criterion_id) => ({
      criterion_id,
      reason: reasons.get(criterion_id) ?? reason,
    })),
    compact_md: cutAtLine(output.compact_md.trimEnd(), blockBytesMax.outcome_compact),
    assumptions_made,
    facts,
    optional_questions,
    missing_info_requests,
    // A claim without a confirmed effect never gets here.
    effects_confirmed: effects_claimed,
  };
}

/** That three members did it, and how they failed. What they could not settle stands in the conflicts. */
function describeTriad({ type, failure }: TriadEnd): Record<string, unknown> {
  return failure === null ? { type } : { type, failure };
}

/** That members did it for a leader, and whether all of it is there. */
function describeTeam({ team_id, tasks, partial }: TeamEnd): Record<string, unknown> {
  return team_id === null ? { tasks, partial } : { team_id, tasks, partial };
}
