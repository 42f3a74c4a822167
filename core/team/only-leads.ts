/**
 * Finds agents that can only lead a team.
 *
 * Invariants:
 *   OLD1. An agent only leads when leading is among its capabilities and all others are parts of leading.
 */
import type { AgentDefinition } from '../../contracts/agent-definition.ts';

/** Capabilities that are parts of leading. */
const partsOfLeading: readonly string[] = ['leading', 'delegation', 'consolidation'];

export function onlyLeads({ capabilities }: Pick<AgentDefinition, 'capabilities'>): boolean {
  return (
    capabilities.includes('leading') && capabilities.every((one) => partsOfLeading.includes(one))
  );
}
