import { z } from 'zod';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { type AgentDefinition, Slug } from '../../contracts/agent-definition.ts';
import { WrittenDelegation } from '../../contracts/delegation.ts';
import { TeamMember, TeamPlan, type NamedTeam } from '../../contracts/team.ts';
import type { PlanParts, SchemaForm } from '../../contracts/transcript.ts';
import { checkNeeds, linkInputs } from '../../core/plan/check-inputs.ts';
import { listUnmetInputs } from '../../core/run/list-deliverables.ts';
import { chooseStale } from '../../core/pool/mark-stale.ts';
import { chooseLeader, onlyLeads } from '../../core/team/summarise-teams.ts';
import { formatCost, formatTokens } from '../../core/text/format.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';
import { WavePlan, WrittenPlan } from '../../contracts/wave-plan.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { orNull, readOutput, readRegistry } from '../artifacts/read-artifact.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, listBlock, takeEntries, textBlock } from '../text/blocks.ts';
import {
  type DecidedWave,
  currentFacts,
  readLastDecision,
  showFact,
} from '../artifacts/read-reports.ts';
import { readRecord } from '../artifacts/record-log.ts';
import {
  renderAgents,
  renderAnsweredQuestions,
  renderKnownInputs,
  renderOpenCriteria,
  renderRunBlocks,
} from '../prompts/common-blocks.ts';
import { markData } from '../prompts/mark-data.ts';
import { planRules } from '../prompts/common-rules.ts';
import { renderLeftChanges } from '../prompts/render-pool-blocks.ts';
import { readJson } from './read-json.ts';
import { jsonReply, plannerSystem, type PromptOf, type Stage } from './stage.ts';

/** Maximum characters of the reason why an attempt ended. */
const reasonCharsMax = 300;

/** Renders the planner's last decision for the next plan: why the wave was not enough, and what was to be done next. */
function renderLastDecision({ wave, decision }: DecidedWave): string {
  const { io_status, not_ok_reasons, next_actions } = decision.planner_decision;
  const bytesMax = blockBytesMax.last_decision / 2;
  return jsonBlock('last_decision', {
    wave,
    io_status,
    not_ok_reasons: takeEntries(not_ok_reasons, bytesMax, 'first'),
    next_actions: takeEntries(next_actions, bytesMax, 'first'),
  });
}

/**
 * Lists who tried what with which outcome, the newest first, and the information that each one missed and that was not
 * supplied since.
 *
 * @param known names of inputs that the next wave may require.
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
async function renderTried(
  store: ArtifactStore,
  { waves }: RunRecord,
  known: readonly string[],
): Promise<string> {
  const outcomes = waves
    .flatMap(({ wave, outcomes: ended }) => ended.map((outcome) => ({ wave, outcome })))
    .toReversed()
    .slice(0, engineLimits.triedShownMax);
  const entries = await Promise.all(
    outcomes.map(async ({ wave, outcome }) => ({
      delegation_id: outcome.delegation_id,
      wave,
      agent_id: outcome.agent_id,
      title: outcome.title,
      status: outcome.status,
      ...(outcome.reason !== '' && { reason: cutText(outcome.reason, reasonCharsMax) }),
      criteria_met: outcome.criteria_met,
      criteria_unmet: outcome.criteria_unmet,
      ...(await describeMissing(store, outcome, known)),
    })),
  );
  return listBlock('tried', entries, blockBytesMax.tried);
}

async function describeMissing(
  store: ArtifactStore,
  { output_ref }: DelegationOutcome,
  known: readonly string[],
): Promise<Partial<Pick<AgentOutput, 'missing_info_requests'>> & { readonly damaged?: true }> {
  if (output_ref === null) return {};
  const output = await orNull(readOutput(store, output_ref));
  // The planner can have it redone; nothing else of the plan rests on the text.
  if (output === null) return { damaged: true };
  const missing = output.missing_info_requests.filter(({ input }) => !known.includes(input));
  return missing.length === 0 ? {} : { missing_info_requests: missing };
}

/** The parts that are offered where no prompt says what the run allows. */
const wholePlan: PlanParts = { triads: true, teams: true, redoes: true };

/** Stage in which the planner plans a wave. */
export const planStage: Stage<PromptOf<'plan'>> = {
  reply: {
    ...jsonReply,
    shape: 'wave_plan',
    schemaFor: ({ planning, form }) => offerPlan(shrinkParts(planning ?? wholePlan, form)),
    async take(text, { planning }) {
      const read = readJson(WavePlan, text);
      if (!read.ok) return read;
      // A stored plan also contains what follows from its names.
      const delegations = linkInputs(read.value.delegations, planning?.known_inputs ?? []);
      const faults = checkNeeds(delegations, planning?.unmet_inputs ?? []);
      if (faults.length > 0) return { ok: false, faults };
      const value = { ...read.value, delegations };
      return {
        ok: true,
        text: JSON.stringify(value),
        outline: (ref) => ({ shape: 'wave_plan', plan: outlinePlan(value, ref) }),
      };
    },
  },
  tools: 'none',
  system: plannerSystem((planning) => planRules(planning ?? { triads: false, teams: false })),
  async render(store, prompt, { callKey, tools }) {
    const record = await readRecord(store, prompt.record_ref);
    const { agents, teams } = await readRegistry(store, prompt.registry_ref);
    const last = await readLastDecision(store, record);
    const hasTried = record.waves.some(({ outcomes }) => outcomes.length > 0);
    const facts = currentFacts(record).slice(-engineLimits.factsShownMax).map(showFact);
    const text = [
      `<request kind="plan" wave="${prompt.wave}">\nPlan wave ${prompt.wave}: the delegations that bring the goal closest to done, each with criteria that can be checked. Ask the user only what is critical.\n</request>`,
      ...renderRunBlocks(record, prompt.amendments),
      // Without teams no delegation needs an agent that does nothing but lead one.
      renderAgents(prompt.teams ? agents : agents.filter((agent) => !onlyLeads(agent)), tools),
      markData(
        [
          renderOpenCriteria(record, prompt.open_criteria, []),
          renderKnownInputs(record, prompt.known_inputs),
          await renderAnsweredQuestions(store, record),
          ...(hasTried ? [await renderTried(store, record, prompt.known_inputs)] : []),
          listBlock('facts', facts, blockBytesMax.facts, 'last'),
          listBlock('stale', describeStale(record), blockBytesMax.stale),
          ...renderLeftChanges(record),
        ].join('\n\n'),
        callKey,
      ),
      ...(last === null ? [] : [renderLastDecision(last)]),
      textBlock(
        'wave_compact',
        last?.decision.wave_compact ?? 'No wave has been decided yet.',
        blockBytesMax.wave_compact,
      ),
      jsonBlock('limits', {
        waves_left: prompt.waves_left,
        max_delegations: prompt.max_delegations,
      }),
      ...(prompt.triad_models === null
        ? []
        : [jsonBlock('triads', { models: prompt.triad_models })]),
      ...(prompt.teams
        ? [
            listBlock(
              'teams',
              teams.map((team) => describeTeam(team, agents)),
              blockBytesMax.teams,
            ),
          ]
        : []),
    ].join('\n\n');
    return [{ type: 'text', text }];
  },
  async readTerms(store, { record_ref, known_inputs, triad_models, teams }) {
    const record = await readRecord(store, record_ref);
    const redoes = describeStale(record).length > 0;
    const unmet = listUnmetInputs(record);
    return {
      known_inputs,
      ...(unmet.length > 0 && { unmet_inputs: unmet }),
      triads: triad_models !== null,
      teams,
      redoes,
    };
  },
};

/** Reduces the offered parts with the form. Described in words, a plan is whole again: words are no grammar. */
function shrinkParts(parts: PlanParts, form: SchemaForm): PlanParts {
  const isShrunk = form === 'single_agents' || form === 'bare';
  return isShrunk ? { ...parts, triads: false, teams: false } : parts;
}

/** Shows what a planner chooses a team by, and needs to name it. */
function describeTeam(team: NamedTeam, agents: readonly AgentDefinition[]): object {
  const { team_id, description, members = [] } = team;
  return {
    team_id,
    leader: chooseLeader(team, agents),
    description: description ?? '',
    members: members.filter(({ enabled }) => enabled !== false).map(({ id }) => id),
  };
}

/** Describes stale delegations for the planner's choice: why, and what each cost the last time. */
export function describeStale(record: RunRecord): readonly object[] {
  const outcomes = new Map(
    record.waves.flatMap((wave) => wave.outcomes.map((one) => [one.delegation_id, one] as const)),
  );
  return chooseStale(record.stale).flatMap(({ delegation_id, wave, reasons }) => {
    const outcome = outcomes.get(delegation_id);
    if (outcome === undefined) return [];
    const { agent_id, title, usage } = outcome;
    const cost = `${usage.calls} calls, ${formatTokens(usage)}, ${formatCost(usage)}`;
    return [{ delegation_id, wave, agent_id, title, reasons, cost_last_time: cost }];
  });
}

/**
 * The parts of a team that a planner is offered. The provider makes a grammar of the schema and may refuse a large one, and each call
 * of the planner pays for its bytes. So members are agents or teams with a name: a planner that wants a triad gives it a
 * delegation of its own, where its cost is seen. The rest has defaults that a plan seldom has a reason to change. Whoever
 * writes those fields all the same is understood.
 */
const OfferedTeam = TeamPlan.pick({
  team_id: true,
  instructions: true,
  allow_parallel: true,
  timeout: true,
  member_timeout: true,
}).extend({
  members: z
    .array(
      TeamMember.pick({ id: true, description: true, team_id: true }).extend({
        agent_id: Slug.optional().describe(
          'The agent that it is. Without agent_id and team_id: the agent that is called as its id.',
        ),
      }),
    )
    .optional()
    .describe(TeamPlan.shape.members.description ?? ''),
});

/**
 * Returns the schema of a wave plan for the provider, with the parts that the run allows. Every one of these is a
 * WrittenPlan.
 */
export function offerPlan(parts: PlanParts): z.ZodType {
  const key = JSON.stringify([parts.triads, parts.teams, parts.redoes]);
  const known = offeredPlans.get(key);
  if (known !== undefined) return known;
  const offered = buildPlan(parts);
  offeredPlans.set(key, offered);
  return offered;
}

/** Schemas created so far. The request is cached by its schema, so each has to be one and the same object. */
const offeredPlans = new Map<string, z.ZodType>();

function buildPlan({ triads, teams, redoes }: PlanParts): z.ZodType {
  // Provided inputs follow from the known inputs, so a planner is not asked for them.
  const delegation = WrittenDelegation.omit({
    provided_inputs: true,
    redoes: true,
    triad: true,
    team: true,
  }).extend({
    agent_id: Slug.describe(
      [
        'The agent that does it, from the registry.',
        ...(triads ? ['With triad: the agent of the member that writes its output.'] : []),
        ...(teams ? ['With team: the one that leads.'] : []),
      ].join(' '),
    ),
    // Not optional, because it can be an empty list: the provider takes few fields that may be left out.
    needs: WrittenDelegation.shape.needs
      .unwrap()
      .describe(WrittenDelegation.shape.needs.description ?? ''),
    ...(redoes && { redoes: WrittenDelegation.shape.redoes }),
    ...(triads && { triad: WrittenDelegation.shape.triad }),
    ...(teams && {
      team: OfferedTeam.optional().describe(WrittenDelegation.shape.team.description ?? ''),
    }),
  });
  const { criteria_waived: waived, criteria_met_by_answer: met } = WrittenPlan.shape;
  return WrittenPlan.extend({
    criteria_waived: waived.unwrap().describe(waived.description ?? ''),
    criteria_met_by_answer: met.unwrap().describe(met.description ?? ''),
    delegations: z.array(delegation).describe(WrittenPlan.shape.delegations.description ?? ''),
  });
}
