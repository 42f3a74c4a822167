import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { MiddlewareName, TeamSummary } from '../../contracts/team.ts';

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
