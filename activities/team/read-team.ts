import { ApplicationFailure } from '@temporalio/common';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { NamedTeam, TeamPlan } from '../../contracts/team.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import { findDefinition } from '../../core/team/resolve-team.ts';
import type { TeamDefinition } from '../../core/team/resolve-team.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import { readShape } from '../tools/read-artifact.ts';

/** Plan and delegation of a team's task. */
export interface TeamPlace {
  readonly plan_ref: Ref;
  readonly delegation_id: string;
}

export interface TeamTask {
  readonly plan: WavePlan;
  readonly delegation: Delegation & { readonly team: TeamPlan };
}

/**
 * Reads the delegation of a team, and the plan around it.
 *
 * @throws {ArtifactCorrupt} when the plan is missing or damaged, or has no such delegation for a team.
 */
export async function readTeamTask(
  store: ArtifactStore,
  { plan_ref, delegation_id }: TeamPlace,
): Promise<TeamTask> {
  const plan = await readShape(store, plan_ref, StoredPlan, 'a wave plan');
  const delegation = plan.delegations.find((one) => one.delegation_id === delegation_id);
  if (delegation?.team !== undefined) {
    return { plan, delegation: { ...delegation, team: delegation.team } };
  }
  const found = delegation === undefined ? 'has no delegation' : 'gives no team to';
  const message = `The plan ${plan_ref} ${found} "${delegation_id}".`;
  throw new ArtifactCorrupt(message, { ref: plan_ref, path: plan_ref });
}

/** @throws InvalidInput when the run knows no team of that name. */
export function defineTeam(plan: TeamPlan, teams: readonly NamedTeam[]): TeamDefinition {
  const definition = findDefinition(plan, teams);
  if (definition !== null) return definition;
  const known = listNames(teams.map(({ team_id }) => team_id));
  throw createInvalidTeam(
    `there is no team ${listNames([plan.team_id ?? ''])}. Teams are: ${known}`,
  );
}

/** Creates the failure of a team that can't start or continue. */
export function createInvalidTeam(reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The team can't work: ${reason}.`, 'InvalidInput');
}
