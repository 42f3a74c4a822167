import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { NamedTeam } from '../../contracts/team.ts';
import { chooseLeader } from '../../core/team/choose-leader.ts';
import { onlyLeads } from '../../core/team/only-leads.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../artifacts/read-record.ts';
import { readRegistry } from '../artifacts/read-artifact.ts';
import { engineLimits } from '../../core/limits.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { jsonBlock, listBlock, textBlock } from '../text/blocks.ts';
import {
  renderAgents,
  renderAnsweredQuestions,
  renderKnownInputs,
  renderOpenCriteria,
  renderRunBlocks,
} from './common-blocks.ts';
import { describeStale } from './describe-stale.ts';
import { markData } from './mark-data.ts';
import type { PromptReader } from './prompt-reader.ts';
import { currentFacts, readLastDecision, showFact } from '../artifacts/read-wave.ts';
import type { DecidedWave } from '../artifacts/read-wave.ts';
import { renderLastDecision, renderTried } from './render-history.ts';

/** The first message of a conversation in which the planner plans a wave. */
export async function renderPlan(
  store: ArtifactStore,
  prompt: Extract<Prompt, { kind: 'plan' }>,
  { callKey, tools }: PromptReader,
): Promise<string> {
  const record = await readRecord(store, prompt.record_ref);
  const { agents, teams } = await readRegistry(store, prompt.registry_ref);
  const last = await readLastDecision(store, record);
  const facts = currentFacts(record).slice(-engineLimits.factsShownMax).map(showFact);
  return [
    `<request kind="plan" wave="${prompt.wave}">\nPlan wave ${prompt.wave}: the delegations that bring the goal closest to done, each with criteria that can be checked. Ask the user only what is critical.\n</request>`,
    ...renderRunBlocks(record, prompt.amendments),
    // Without teams nobody needs an agent that does nothing but lead one.
    renderAgents(prompt.teams ? agents : agents.filter((agent) => !onlyLeads(agent)), tools),
    markData(renderOpenCriteria(record, prompt.open_criteria, []), callKey),
    renderKnownInputs(record, prompt.known_inputs),
    await renderAnsweredQuestions(store, record),
    ...(await renderHistory(store, record, { last, known: prompt.known_inputs, callKey })),
    markData(listBlock('facts', facts, blockBytesMax.facts, 'last'), callKey),
    listBlock('stale', describeStale(record), blockBytesMax.stale),
    textBlock(
      'wave_compact',
      last?.decision.wave_compact ?? 'No wave has been decided yet.',
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

/** What earlier waves leave to this one: what was decided last, and who tried what. Nothing before the first wave. */
async function renderHistory(
  store: ArtifactStore,
  record: RunRecord,
  {
    last,
    known,
    callKey,
  }: {
    readonly last: DecidedWave | null;
    readonly known: readonly string[];
    readonly callKey: string;
  },
): Promise<readonly string[]> {
  const hasTried = record.waves.some(({ outcomes }) => outcomes.length > 0);
  return [
    ...(last === null ? [] : [renderLastDecision(last)]),
    ...(hasTried ? [markData(await renderTried(store, record, known), callKey)] : []),
  ];
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
