import type { OpenTeamInput, OpenTeamResult } from '../../contracts/team-activities.ts';
import { resolveTeam } from '../../core/team/resolve-team.ts';
import { readRegistry } from '../artifacts/read-artifact.ts';
import type { TeamDeps } from './deps.ts';
import { defineTeam, readTeamTask } from './read-team.ts';

/**
 * The team of a delegation, as the run knew it when it began. Repeating it gives the same.
 *
 * @throws InvalidInput when the team does not exist.
 * @throws {ArtifactCorrupt} when plan or registry are missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function openTeam(
  { store }: Pick<TeamDeps, 'store'>,
  input: OpenTeamInput,
): Promise<OpenTeamResult> {
  const [{ delegation }, registry] = await Promise.all([
    readTeamTask(store, input),
    readRegistry(store, input.registry_ref),
  ]);
  const definition = defineTeam(delegation.executor, registry.teams);
  return {
    setup: resolveTeam(definition, delegation.agent_id, registry),
    message_ref: await store.put(delegation.task_description),
  };
}
