/**
 * Finds agents that only lead, and the leader of a team that names none.
 *
 * Invariants:
 *   OLD1. An agent only leads when leading is among its capabilities and all others are parts of leading.
 *   TLD1. The named leader leads its team; otherwise the shipped one, otherwise the first agent.
 *   TLD2. The planner never becomes leader by default.
 */
import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { leaderAgentId, plannerAgentId } from '../../contracts/names.ts';

/** Capabilities that are parts of leading. */
const partsOfLeading: readonly string[] = ['leading', 'delegation', 'consolidation'];

export function onlyLeads({ capabilities }: Pick<AgentDefinition, 'capabilities'>): boolean {
  return (
    capabilities.includes('leading') && capabilities.every((one) => partsOfLeading.includes(one))
  );
}

/** @returns empty when there is no agent but the planner. */
export function chooseLeader(
  { leader }: { readonly leader?: string | undefined },
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): string {
  if (leader !== undefined) return leader;
  const executors = agents.map(({ agent_id }) => agent_id).filter((id) => id !== plannerAgentId);
  return executors.includes(leaderAgentId) ? leaderAgentId : (executors[0] ?? '');
}
