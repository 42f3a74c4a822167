import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { MiddlewareName, NamedTeam, TeamMember, TeamSummary } from '../../contracts/team.ts';
import type { SpecSection, TriadMember, TriadType } from '../../contracts/triad.ts';

/** A triad as a plan or its outline has it. */
export interface TriadDraft {
  readonly type: TriadType;
  readonly members: readonly TriadMember[];
  readonly sections?: readonly Omit<SpecSection, 'text'>[] | undefined;
}

type Readable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A member as far as it can be read, so that rules are checked although something else is wrong with it. */
export interface MemberDraft extends Readable<Omit<TeamMember, 'triad'>> {
  readonly triad?: TriadDraft | undefined;
  /** Fields that were given and can't be read: what is wrong with them is told already. */
  readonly unread?: readonly string[];
  /** Whether an id was given, and no object around it. */
  readonly bare?: boolean;
}

/** A team as far as it can be read. */
export interface TeamDraft extends Readable<Omit<NamedTeam, 'members'>> {
  readonly members?: readonly MemberDraft[] | undefined;
  /** As of a member. */
  readonly unread?: readonly string[];
}

/** What teams are checked against. */
export interface TeamContext {
  readonly agents: readonly AgentSummary[];
  /** Whether members may be triads. */
  readonly triads: boolean;
  /** Models that members of triads may be given. */
  readonly models: readonly string[];
  /** Models that a leader may be given; null: nobody knows which there are. */
  readonly leaderModels: readonly string[] | null;
  /** Teams that members may be. */
  readonly teams: readonly TeamSummary[];
  /** What the worker has. */
  readonly middlewares: readonly MiddlewareName[];
}
