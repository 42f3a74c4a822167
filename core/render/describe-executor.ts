import type { PlannedDelegation } from '../../contracts/messages.ts';
import { plainText } from './markdown.ts';

/** Who does a delegation: its agent, or a triad whose output that agent writes. */
export function describeExecutor({
  agent_id,
  triad,
}: Pick<PlannedDelegation, 'agent_id' | 'triad'>): string {
  const agent = plainText(agent_id, 60);
  return triad === undefined ? agent : `${triad} triad, written by ${agent}`;
}
