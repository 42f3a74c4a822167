import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { MiddlewareName, NamedTeam, TeamMember, TeamSummary } from '../../contracts/team.ts';
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
