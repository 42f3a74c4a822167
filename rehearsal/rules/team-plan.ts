import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { chooseAgent, chooseLeader } from './choose-agent.ts';
import type { Prompt } from './prompt.ts';
import { readTeamMark } from './rehearsal-marks.ts';

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
