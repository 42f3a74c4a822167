/**
 * Chooses the members of a triad that names none.
 *
 * Invariants:
 *   CH1. The members fit the type, have different names, and none of them is the planner.
 *   CH2. Each role gets the agent that suits it, if the registry has one; otherwise the first agent.
 */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { TriadMember, TriadType } from '../../contracts/triad.ts';
import { rolesOf } from './roles.ts';

/** Shipped agents, in the order of the seats. */
const suitable: Readonly<Record<TriadType, readonly string[]>> = {
  hierarchical: ['analyst', 'engineer', 'researcher'],
  dialectic: ['analyst', 'reviewer', 'writer'],
  consensus: ['analyst', 'engineer', 'reviewer'],
};

/** @returns null when there is no agent but the planner. */
export function chooseMembers(
  type: TriadType,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): TriadMember[] | null {
  const executors = agents.map(({ agent_id }) => agent_id).filter((id) => id !== plannerAgentId);
  const [first] = executors;
  if (first === undefined) return null;
  const roles = rolesOf[type];
  return roles.map((role, i) => {
    const wanted = suitable[type][i];
    const nth = roles.slice(0, i + 1).filter((other) => other === role).length;
    const isAlone = roles.filter((other) => other === role).length === 1;
    return {
      name: isAlone ? role : `${role}-${nth}`,
      role,
      agent_id: wanted !== undefined && executors.includes(wanted) ? wanted : first,
    };
  });
}
