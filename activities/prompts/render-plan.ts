import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { NamedTeam } from '../../contracts/team.ts';
import { chooseLeader } from '../../core/team/choose-leader.ts';
import { onlyLeads } from '../../core/team/only-leads.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../run-record/read-record.ts';
import { readRegistry } from '../tools/read-artifact.ts';
import { engineLimits } from '../../core/limits.ts';
import { blockBytesMax } from './block-limits.ts';
import { jsonBlock, listBlock, textBlock } from './blocks.ts';
import {
  renderAgents,
  renderAnsweredQuestions,
  renderOpenCriteria,
  renderRunBlocks,
} from './common-blocks.ts';
import { describeStale } from './describe-stale.ts';
import { markData } from './mark-data.ts';
import type { PromptReader } from './prompt-reader.ts';
import { currentFacts, readLastWaveCompact, showFact } from './read-wave.ts';

/** The first message of a conversation in which the planner plans a wave. */
export async function renderPlan(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'plan' }>,
  { callKey }: PromptReader,
): Promise<string> {
  const record = await readRecord(store, prompt.record_ref);
  const { agents, teams } = await readRegistry(store, prompt.registry_ref);
  const waveCompact = await readLastWaveCompact(store, record);
  const facts = currentFacts(record).slice(-engineLimits.factsShownMax).map(showFact);
  return [
    `<request kind="plan" wave="${prompt.wave}">\nPlan wave ${prompt.wave}: the delegations that bring the goal closest to done, each with criteria that can be checked. Ask the user only what is critical.\n</request>`,
    ...renderRunBlocks(record, prompt.amendments),
    // Without teams nobody needs an agent that does nothing but lead one.
    renderAgents(prompt.teams ? agents : agents.filter((agent) => !onlyLeads(agent))),
    renderOpenCriteria(record, prompt.open_criteria, []),
    listBlock('known_inputs', prompt.known_inputs, blockBytesMax.known_inputs),
    await renderAnsweredQuestions(store, record),
    markData(listBlock('facts', facts, blockBytesMax.facts, 'last'), callKey),
    listBlock('stale', describeStale(record), blockBytesMax.stale),
    textBlock(
      'wave_compact',
      waveCompact === '' ? 'No wave has been decided yet.' : waveCompact,
      blockBytesMax.wave_compact,
    ),
    jsonBlock('limits', {
      waves_left: prompt.waves_left,
      max_delegations: prompt.max_delegations,
    }),
    ...(prompt.triad_models === null ? [] : [jsonBlock('triads', { models: prompt.triad_models })]),
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
}

/** What a planner chooses a team by, and needs to name it. */
function describeTeam(team: NamedTeam, agents: readonly AgentDefinition[]): object {
  const { team_id, description, members = [] } = team;
  return {
    team_id,
    leader: chooseLeader(team, agents),
    description: description ?? '',
    members: members.filter(({ enabled }) => enabled !== false).map(({ id }) => id),
  };
}
