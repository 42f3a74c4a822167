import type { PlannedDelegation } from '../../contracts/messages.ts';
import { plainText } from './markdown.ts';

/** Names the executor of a delegation: its agent, a triad whose output that agent writes, or a team that it leads. */
export function describeExecutor({
  agent_id,
  triad,
  team,
}: Pick<PlannedDelegation, 'agent_id' | 'triad' | 'team'>): string {
  const agent = plainText(agent_id, 60);
  if (team !== undefined) return `${`team ${plainText(team, 60)}`.trimEnd()}, led by ${agent}`;
  return triad === undefined ? agent : `${triad} triad, written by ${agent}`;
}
