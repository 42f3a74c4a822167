/**
 * Tells which agents are of no use but as the leader of a team.
 *
 * Invariants:
 *   OLD1. An agent only leads when leading is among its capabilities and all others belong to leading, too.
 */
import type { AgentDefinition } from '../../contracts/agent-definition.ts';

/** What a leader is able to do as such. */
const partsOfLeading: readonly string[] = ['leading', 'delegation', 'consolidation'];

export function onlyLeads({ capabilities }: Pick<AgentDefinition, 'capabilities'>): boolean {
  return (
    capabilities.includes('leading') && capabilities.every((one) => partsOfLeading.includes(one))
  );
}
