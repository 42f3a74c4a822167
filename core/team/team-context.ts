import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { MiddlewareName, TeamSummary } from '../../contracts/team.ts';

/** Facts against which teams are checked. */
export interface TeamContext {
  readonly agents: readonly AgentSummary[];
  /** True when members may be triads. */
  readonly triads: boolean;
  /** Models that members of triads may get. */
  readonly models: readonly string[];
  /** Models that a leader may be given; null when the models are unknown. */
  readonly leaderModels: readonly string[] | null;
  /** Teams that may be members. */
  readonly teams: readonly TeamSummary[];
  /** Middlewares and guardrails of the worker. */
  readonly middlewares: readonly MiddlewareName[];
}
