/**
 * Summarises the named teams for checking plans, and finds teams that contain each other.
 *
 * Invariants:
 *   TSM1. A team is one level deeper than the deepest team among its members; without one it has depth 1.
 *   TSM2. All rings of teams that contain each other are found, each shown as [A, B, A]; after the links that close
 *         them are cut, each team has a depth.
 *   TSM3. A team's agents are its leader, its members, the members of triads among them, and the agents of teams below it.
 */
import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { leaderAgentId, plannerAgentId } from '../../contracts/names.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type {
  TeamSummary,
  MiddlewareName,
  NamedTeam,
  TeamMember,
  TeamMemberOutline,
  TeamOutline,
} from '../../contracts/team.ts';
import { findCycle } from '../schedule/dependencies.ts';
import type { SpecSection, TriadMember, TriadType } from '../../contracts/triad.ts';

/** A triad in a plan or its outline. */
export interface TriadDraft {
  readonly type: TriadType;
  readonly members: readonly TriadMember[];
  readonly sections?: readonly Omit<SpecSection, 'text'>[] | undefined;
}

type Readable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The readable part of a member, so that rules are checked although some field is invalid. */
export interface MemberDraft extends Readable<Omit<TeamMember, 'triad'>> {
  readonly triad?: TriadDraft | undefined;
  /** Fields that are present and unreadable: their faults are reported elsewhere. */
  readonly unread?: readonly string[];
  /** True when the member is a bare id without an object around it. */
  readonly bare?: boolean;
}

/** The readable part of a team. */
export interface TeamDraft extends Readable<Omit<NamedTeam, 'members'>> {
  readonly members?: readonly MemberDraft[] | undefined;
  /** Defined in MemberDraft. */
  readonly unread?: readonly string[];
}

/** Facts against which teams are checked. */
export interface TeamContext {
  readonly agents: readonly AgentSummary[];
  /** True when members may be triads. */
  readonly triads: boolean;
  /** Models that members of triads may be given. */
  readonly models: readonly string[];
  /** Models that a leader may be given; null: nobody knows which there are. */
  readonly leaderModels: readonly string[] | null;
  /** Teams that members may be. */
  readonly teams: readonly TeamSummary[];
  /** Functions that the worker has. */
  readonly middlewares: readonly MiddlewareName[];
}

/** Summarises each team. Of two teams with one name the first counts. */
export function summariseTeams(
  teams: readonly TeamDraft[],
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): TeamSummary[] {
  const { links } = cutRings(teams);
  const depths = computeDepths(links);
  return [...links.keys()].map((team_id) => {
    const inside = [...collectTeams(team_id, links)].flatMap((id) => {
      const team = teams.find((one) => one.team_id === id);
      const ids = (team?.members ?? []).flatMap(agentsOfMember);
      return [chooseLeader({ leader: team?.leader }, agents), ...ids];
    });
    const [leader = ''] = inside;
    return { team_id, depth: depths.get(team_id) ?? 1, leader, agents: [...new Set(inside)] };
  });
}

/** Lists a team and all teams below it. */
function collectTeams(teamId: string, links: Links): Set<string> {
  const found = new Set([teamId]);
  for (const id of found) for (const below of links.get(id) ?? []) found.add(below);
  return found;
}

/** Lists the agents that a member is. Those of a team are listed with that team. */
export function agentsOfMember({ id, agent_id, team_id, triad }: MemberDraft): string[] {
  if (triad !== undefined) return triad.members.map((member) => member.agent_id);
  if (team_id !== undefined) return [];
  return [agent_id ?? id ?? ''];
}

/** Lists the agents that may work in a delegation; null when any may. */
export function agentsOfDelegation(
  { agent_id, executor }: Pick<DelegationOutline, 'agent_id' | 'executor'>,
  teams: readonly TeamSummary[] | null,
): string[] | null {
  switch (executor.kind) {
    case 'agent':
      return [agent_id];
    case 'triad':
      return [agent_id, ...executor.members.map((member) => member.agent_id)];
    case 'team':
      return joinAgents([[agent_id], ...listTeam(executor, teams)]);
  }
}

/** Lists the agents of each member of a planned team, or of the named team that it is. */
function listTeam(
  { team_id, members }: TeamOutline,
  teams: readonly TeamSummary[] | null,
): (readonly string[] | null)[] {
  if (members === undefined) return [agentsOfTeam(team_id, teams)];
  return members.map((member: TeamMemberOutline) =>
    member.team_id === undefined ? agentsOfMember(member) : agentsOfTeam(member.team_id, teams),
  );
}

function agentsOfTeam(
  teamId: string | undefined,
  teams: readonly TeamSummary[] | null,
): readonly string[] | null {
  return teams?.find((team) => team.team_id === teamId)?.agents ?? null;
}

/** Joins lists of agents; null when one of them may hold any agent. */
function joinAgents(lists: readonly (readonly string[] | null)[]): string[] | null {
  const known = lists.filter((list) => list !== null);
  return known.length === lists.length ? known.flat() : null;
}

/** @returns each ring of teams that contain each other. */
export function findTeamRings(teams: readonly TeamDraft[]): string[][] {
  return cutRings(teams).rings;
}

type Links = Map<string, readonly string[]>;

function cutRings(teams: readonly TeamDraft[]): { rings: string[][]; links: Links } {
  const links = linkTeams(teams);
  const rings: string[][] = [];
  for (let ring = findCycle(links); ring !== null; ring = findCycle(links)) {
    rings.push(ring);
    const [from, to] = ring.slice(-2);
    if (from === undefined || to === undefined) break;
    links.set(
      from,
      (links.get(from) ?? []).filter((id) => id !== to),
    );
  }
  return { rings, links };
}

function linkTeams(teams: readonly TeamDraft[]): Links {
  const links: Links = new Map();
  for (const { team_id, members } of teams) {
    if (team_id === undefined || links.has(team_id)) continue;
    const ids = (members ?? []).flatMap((member) => member.team_id ?? []);
    links.set(team_id, [...new Set(ids)]);
  }
  return links;
}

/** Computes depths. Without rings no chain of teams is longer than the number of teams. */
function computeDepths(links: Links): Map<string, number> {
  const depths = new Map([...links.keys()].map((id) => [id, 1]));
  for (let round = 1; round < links.size; round += 1) {
    for (const [id, below] of links) {
      depths.set(id, Math.max(1, ...below.map((other) => 1 + (depths.get(other) ?? 0))));
    }
  }
  return depths;
}

/**
 * Finds agents that only lead, and the leader of a team that names none.
 *
 * Invariants:
 *   OLD1. An agent only leads when leading is among its capabilities and all others are parts of leading.
 *   TLD1. The named leader leads its team; otherwise the shipped one, otherwise the first agent.
 *   TLD2. The planner never becomes leader by default.
 */

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
