import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ToolSpec } from '../ports/model-client.ts';

/** What a tool may see of the delegation that calls it. */
export interface ToolContext {
  readonly store: ArtifactStore;
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** How many details may still be loaded. */
  readonly loads_left: number;
  /** To be told when a detail was loaded: the delegation's record says on what its work rests. */
  readonly onLoaded: (detailId: string) => void;
  /** Aborted when the call took too long or the activity was cancelled. */
  readonly signal: AbortSignal;
}

export interface Tool {
  readonly spec: ToolSpec;
  /**
   * Does the work. Whatever it throws goes to the model as the text of an error result, except a `StoreUnavailable`,
   * which repeats the activity.
   *
   * @param input the arguments as `spec.input` parsed them.
   * @returns the text for the model.
   */
  run(input: unknown, context: ToolContext): Promise<string>;
}

/** Every tool of this worker, by name. What an agent may call is this, cut down to its `allowed_tools`. */
export type ToolRegistry = ReadonlyMap<string, Tool>;

/** @throws Error when two tools have one name: that is a fault in the worker's set-up. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const registry = new Map<string, Tool>();
  for (const tool of tools) {
    if (registry.has(tool.spec.name)) throw new Error(`two tools are named "${tool.spec.name}"`);
    registry.set(tool.spec.name, tool);
  }
  return registry;
}

/** The tools that an agent with these `allowed_tools` may call, in the order of the registry. */
export function grantTools(registry: ToolRegistry, allowedTools: readonly string[]): Tool[] {
  const allowed = new Set(allowedTools);
  return [...registry.values()].filter((tool) => allowed.has(tool.spec.name));
}
