import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';

const idOf = (agent: JsonObject | undefined): string => textOf(agent?.['agent_id']);

/** How many of the words occur in what the list says about an agent: id, description and, where given, capabilities. */
function computeFit(agent: JsonObject, words: readonly string[]): number {
  const text = JSON.stringify(agent).toLowerCase();
  return words.filter((word) => text.includes(word)).length;
}

/**
 * Chooses the listed agent whose description fits the words best.
 *
 * @param used agent ids that have work already; among equal fits an unused agent comes first, then the order listed.
 * @param turn moves on from the best agent by so many places, so that a second try goes to somebody else. Default 0.
 * @returns an `agent_id` of the list, or the empty string when the list is empty.
 */
export function chooseAgent(
  agents: readonly JsonObject[],
  words: readonly string[],
  used: ReadonlySet<string>,
  turn = 0,
): string {
  const ranked = agents
    .map((agent, place) => ({ agent, place, fit: computeFit(agent, words) }))
    .toSorted(
      (a, b) =>
        b.fit - a.fit ||
        Number(used.has(idOf(a.agent))) - Number(used.has(idOf(b.agent))) ||
        a.place - b.place,
    );
  return idOf(ranked[turn % Math.max(1, ranked.length)]?.agent);
}
