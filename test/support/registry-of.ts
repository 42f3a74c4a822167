import { partDesigners } from '../../activities/run-record/load-registry.ts';
import type { RegistrySnapshot } from '../../activities/artifacts/read-artifact.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { NamedTeam } from '../../contracts/team.ts';

/** Creates a registry snapshot as it is stored. */
export function registryOf(
  agents: readonly AgentDefinition[],
  teams: readonly NamedTeam[] = [],
): string {
  const { others, designers } = partDesigners(agents);
  const snapshot: RegistrySnapshot = {
    agents: [...others],
    designers: [...designers],
    teams: [...teams],
  };
  return JSON.stringify(snapshot);
}
