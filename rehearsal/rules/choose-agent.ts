import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';

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
export function chooseLeader(agents: readonly JsonObject[]): string {
  return idOf(rankAgents(agents, ['lead', 'coordinat', 'delegat'], new Set())[0]);
}
