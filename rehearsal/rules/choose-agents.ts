import { textOf, type JsonObject } from '../messages-api.ts';
import type { Prompt } from './prompt.ts';
import { readTeamMark, readTriadMark } from './rehearsal-marks.ts';

const idOf = (agent: JsonObject | undefined): string => textOf(agent?.['agent_id']);

/** Counts the words that occur in an agent's entry: id, description and, where given, capabilities. */
function computeFit(agent: JsonObject, words: readonly string[]): number {
  const text = JSON.stringify(agent).toLowerCase();
  return words.filter((word) => text.includes(word)).length;
}

/** Returns true for an agent that leads others. Such an agent does no work of its own. */
function leads(agent: JsonObject): boolean {
  const capabilities = agent['capabilities'];
  return Array.isArray(capabilities) && capabilities.includes('leading');
}

/** Ranks the best fit first; among equal fits an unused agent, then the order of the list. */
function rankAgents(
  agents: readonly JsonObject[],
  words: readonly string[],
  used: ReadonlySet<string>,
): readonly JsonObject[] {
  return agents
    .map((agent, place) => ({ agent, place, fit: computeFit(agent, words) }))
    .toSorted(
      (a, b) =>
        b.fit - a.fit ||
        Number(used.has(idOf(a.agent))) - Number(used.has(idOf(b.agent))) ||
        a.place - b.place,
    )
    .map(({ agent }) => agent);
}

/**
 * Chooses the listed agent whose description fits the words best. A leader is chosen only when no other agent is
 * listed.
 *
 * @param used Agent ids that have work already; among equal fits an unused agent comes first, then the order of the
 * list.
 * @param turn Number of places to move on from the best agent, so that a second attempt gets another one. Default 0.
 * @returns an `agent_id` of the list, or the empty string when the list is empty.
 */
export function chooseAgent(
  agents: readonly JsonObject[],
  words: readonly string[],
  used: ReadonlySet<string>,
  turn = 0,
): string {
  const workers = agents.filter((agent) => !leads(agent));
  const ranked = rankAgents(workers.length > 0 ? workers : agents, words, used);
  return idOf(ranked[turn % Math.max(1, ranked.length)]);
}

/** Chooses the listed agent whose description best fits leading; the empty string when the list is empty. */
function chooseLeader(agents: readonly JsonObject[]): string {
  return idOf(rankAgents(agents, ['lead', 'coordinat', 'delegat'], new Set())[0]);
}

/** A member before its agent is chosen. */
interface Seat {
  readonly name: string;
  readonly role: string;
  /** Words in the description of a fitting agent. */
  readonly words: readonly string[];
  readonly lens?: string;
}

interface Table {
  readonly seats: readonly Seat[];
  /** The name of the seat whose agent the delegation goes to, because it writes the output. */
  readonly writer: string;
}

const building = ['design', 'build', 'engineer', 'research'];
const checking = ['review', 'critique', 'check', 'error'];
const writing = ['writ', 'edit', 'document', 'text'];
const judging = ['analy', 'compar', 'judge', 'recommend'];

const tables: Readonly<Record<string, Table>> = {
  dialectic: {
    seats: [
      { name: 'proposer', role: 'proposer', words: building },
      { name: 'critic', role: 'critic', words: checking, lens: 'what could go wrong' },
      { name: 'synthesizer', role: 'synthesizer', words: writing },
    ],
    writer: 'synthesizer',
  },
  hierarchical: {
    seats: [
      { name: 'orchestrator', role: 'orchestrator', words: judging },
      { name: 'worker-1', role: 'worker', words: building },
      { name: 'worker-2', role: 'worker', words: writing },
    ],
    writer: 'worker-1',
  },
  consensus: {
    seats: [
      { name: 'peer-1', role: 'peer', words: judging, lens: 'what it costs' },
      { name: 'peer-2', role: 'peer', words: building, lens: 'how it is done' },
      { name: 'peer-3', role: 'peer', words: checking, lens: 'what could go wrong' },
    ],
    writer: 'peer-1',
  },
};

/** Fields of a delegation that three members do together; none of them when the goal asks for no triad, or the run allows none. */
export function planTriad(prompt: Prompt): JsonObject {
  const type = prompt.allowsTriads ? readTriadMark(prompt.goal) : null;
  const table = type === null ? undefined : tables[type];
  if (table === undefined) return {};
  const used = new Set<string>();
  const members = table.seats.map(({ words, ...seat }) => {
    const agent_id = chooseAgent(prompt.agents, words, used);
    used.add(agent_id);
    return { ...seat, agent_id };
  });
  return {
    agent_id: members.find(({ name }) => name === table.writer)?.agent_id,
    triad: { type, reason: 'Rehearsal: the goal asks for a triad by a mark.', members },
  };
}

/** Words that an agent's description has when it fits, one list for each member. */
const parts = [
  ['research', 'fact', 'find', 'source'],
  ['compar', 'judge', 'recommend', 'design'],
] as const;

/**
 * Fields of a delegation that a leader divides among members; null when the goal asks for no team, the run allows none, or
 * none of the name that it asks for.
 */
export function planTeam(prompt: Prompt): JsonObject | null {
  const name = prompt.teams === null ? undefined : readTeamMark(prompt.goal);
  if (name === undefined) return null;
  if (name !== null) {
    const named = prompt.teams?.find(({ team_id }) => team_id === name);
    if (named === undefined) return null;
    const leader = textOf(named['leader']) || chooseLeader(prompt.agents);
    return { agent_id: leader, team: { team_id: name } };
  }
  const used = new Set([chooseLeader(prompt.agents)]);
  const ids = parts.map((words) => {
    const id = chooseAgent(prompt.agents, words, used);
    used.add(id);
    return id;
  });
  const members = [...new Set(ids)].map((id) => ({ id }));
  return { agent_id: chooseLeader(prompt.agents), team: { members, allow_parallel: true } };
}
