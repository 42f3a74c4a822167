import type { ToolProperty } from '../../contracts/agent-definition.ts';
import type { MiddlewareName } from '../../contracts/team.ts';
import type { AgentSource } from '../ports/agent-source.ts';
import type { ArtifactStore, IdentifyStore, RunIndex } from '../ports/artifact-store.ts';
import type { McpServers } from '../ports/mcp-servers.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import type { RunChanges } from '../ports/run-changes.ts';
import type { Workspaces } from '../ports/workspaces.ts';

export interface RecordDeps {
  readonly store: ArtifactStore;
  /** Maps each run_id to the newest record of the run. */
  readonly index: RunIndex;
  /** The store that all of this is in, which each new run records. */
  readonly identifyStore: IdentifyStore;
  /**
   * Source of the shipped agents, overridden by those of `agentsDir`, the folder that a run's input may name; null
   * without one.
   */
  readonly agents: (agentsDir: string | null) => AgentSource;
  readonly projection: ProjectionWriter;
  /** Checks the folder that a run's input may name for its files, reads its guide, and gives a fork the files of its origin. */
  readonly workspaces: Pick<Workspaces, 'findFault' | 'read' | 'takeOver'>;
  /** Changes of runs, on their way into the users' folders. */
  readonly changes: RunChanges;
  /** True when a person is told about new runs. If undefined, none is. */
  readonly notifies?: boolean;
  /** Task queue of the model calls of new runs. If undefined, that of the run. */
  readonly modelQueue?: string | undefined;
  /** Defined in OpenRunResult. */
  readonly approvers: readonly string[] | null;
  /** All existing tools. An agent that allows another one is refused. */
  readonly toolNames: readonly string[];
  /** Properties that each tool gives an agent, by its name. */
  readonly toolProperties: Readonly<Record<string, readonly ToolProperty[]>>;
  /** Those that only a run with a workspace has. */
  readonly workspaceTools: readonly string[];
  /** Servers of tools that agents' files may grant. If undefined, such grants are neither checked nor replaced. */
  readonly mcp?: Pick<McpServers, 'servers' | 'list'>;
  /** Called with words for what agents go without. If undefined, not called. */
  readonly onLeftOut?: (words: string) => void;
  /** All existing middlewares and guardrails. A team that names another one is refused. */
  readonly middlewareNames: readonly MiddlewareName[];
  /** Known models of the provider. A member of a triad may get one even if no agent names it. */
  readonly models: readonly string[];
  /** Returns true when the cost of a model's calls is known; null stands for the default model. */
  readonly isPriced: (model: string | null) => boolean;
}
