/**
 * Who leads a team that names nobody.
 *
 * Invariants:
 *   TLD1. The leader that a team names leads it; else the shipped one, else the first agent there is.
 *   TLD2. Nobody is made leader by default who plans the run.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { leaderAgentId, plannerAgentId } from '../../contracts/names.ts';

/** @returns empty when there is no agent but the planner. */
export function chooseLeader(
  { leader }: { readonly leader?: string | undefined },
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): string {
  if (leader !== undefined) return leader;
  const executors = agents.map(({ agent_id }) => agent_id).filter((id) => id !== plannerAgentId);
  return executors.includes(leaderAgentId) ? leaderAgentId : (executors[0] ?? '');
}
