import type { PlannedDelegation } from '../../contracts/messages.ts';
import { plainText } from './markdown.ts';

/** Names the party that does a delegation: its agent, a triad whose output that agent writes, or a team that it leads. */
export function describeExecutor({
  agent_id,
  executor,
}: Pick<PlannedDelegation, 'agent_id' | 'executor'>): string {
  const agent = plainText(agent_id, 60);
  switch (executor.kind) {
    case 'agent':
      return agent;
    case 'triad':
      return `${executor.type} triad, written by ${agent}`;
    case 'team':
      return `${`team ${plainText(executor.team_id ?? '', 60)}`.trimEnd()}, led by ${agent}`;
  }
}
