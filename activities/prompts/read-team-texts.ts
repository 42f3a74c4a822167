import type { Ref } from '../../contracts/ref.ts';
import type { TeamMember, TeamPlan } from '../../contracts/team.ts';
import type { TeamSeat, TeamSetup } from '../../contracts/team-run.ts';
import { findDefinition } from '../../core/team/resolve-team.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readAgents, readTeams } from '../artifacts/read-artifact.ts';
import type { RegistrySnapshot } from '../artifacts/read-artifact.ts';

/** What the definition of a team says in words; its setup has the rest. */
export interface TeamTexts {
  /** How the leader is to lead; empty when the team has none. */
  readonly instructions: string;
  /** In the order of the setup. */
  readonly members: readonly MemberTexts[];
}

interface MemberTexts {
  readonly name: string;
  readonly description: string;
}

/**
 * @param plan of the delegation that the team does.
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readTeamTexts(
  store: ArtifactStore,
  registryRef: Ref,
  plan: TeamPlan | undefined,
  { members: seats }: Pick<TeamSetup, 'members'>,
): Promise<TeamTexts> {
  const [agents, teams] = await Promise.all([
    readAgents(store, registryRef),
    readTeams(store, registryRef),
  ]);
  const definition = plan === undefined ? undefined : findDefinition(plan, teams);
  return {
    instructions: definition?.instructions ?? '',
    members: seats.map((seat) => {
      const member = definition?.members?.find(({ id }) => id === seat.member_id);
      return describeMember(seat, member, { agents, teams });
    }),
  };
}

function describeMember(
  seat: TeamSeat,
  member: TeamMember | undefined,
  registry: RegistrySnapshot,
): MemberTexts {
  return {
    name: member?.name ?? seat.member_id,
    description: member?.description ?? describeExecutor(seat, member, registry),
  };
}

function describeExecutor(
  { kind, agent_id }: TeamSeat,
  member: TeamMember | undefined,
  { agents, teams }: RegistrySnapshot,
): string {
  switch (kind) {
    case 'agent':
      return agents.find((agent) => agent.agent_id === agent_id)?.description ?? '';
    case 'triad':
      return member?.triad === undefined ? '' : describeTriad(member.triad);
    case 'team':
      return teams.find((team) => team.team_id === member?.team_id)?.description ?? '';
  }
}

function describeTriad({ type, reason, members }: NonNullable<TeamMember['triad']>): string {
  const agents = members.map(({ role, agent_id }) => `${agent_id} as ${role}`).join(', ');
  return `Three agents who do a task together (${type}): ${agents}. ${reason}`;
}
