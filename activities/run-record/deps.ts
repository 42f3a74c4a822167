import type { MiddlewareName } from '../../contracts/team.ts';
import type { AgentSource } from '../ports/agent-source.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import type { Workspaces } from '../ports/workspaces.ts';

export interface RecordDeps {
  readonly store: ArtifactStore;
  /** Holds the newest record of each run under its run_id. */
  readonly index: RunIndex;
  /** The shipped agents, and over them those of `agentsDir`, the folder that a run's input may name; null without. */
  readonly agents: (agentsDir: string | null) => AgentSource;
  readonly projection: ProjectionWriter;
  /** Looks at the folder that a run's input may name for its files. */
  readonly workspaces: Pick<Workspaces, 'findFault'>;
  /** Every tool that exists. An agent that allows another one is refused. */
  readonly toolNames: readonly string[];
  /** Every middleware and guardrail that there is. A team that names another one is refused. */
  readonly middlewareNames: readonly MiddlewareName[];
  /** Models that the provider is known to have. A member of a triad may be given one, though no agent names it. */
  readonly models: readonly string[];
  /** Whether the cost of a model's calls is known; null: of the default model. */
  readonly isPriced: (model: string | null) => boolean;
}
