import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { EffectReceipt } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ApprovalMark } from '../../core/effects/decide-approval.ts';
import type { EffectVerdict } from '../../core/effects/step-effect.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ToolSpec } from '../ports/model-client.ts';
import { isStateTool } from './state-tools/state-tools.ts';

/** What a tool may see of the delegation that calls it. */
export interface ToolContext {
  readonly store: ArtifactStore;
  readonly run_id: string;
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** How many details may still be loaded. */
  readonly loads_left: number;
  /** To be told when a detail was loaded: the delegation's record says on what its work rests. */
  readonly onLoaded: (detailId: string) => void;
  /** Aborted when the call took too long or the activity was cancelled. */
  readonly signal: AbortSignal;
}

/** What a tool that acts is given besides. */
export interface ActContext extends ToolContext {
  /**
   * To be asked as late as can be: when all is ready, right before the change. Throws when the call was given up, or
   * somebody else may have it: what a suspended worker left half done must not come after what was done since.
   */
  readonly mayStill: () => Promise<void>;
}

/** A tool that changes nothing outside: it may run any number of times, and nobody is asked. */
export interface ReadingTool {
  readonly spec: ToolSpec;
  readonly effect: 'none';
  /**
   * Does the work. Whatever it throws goes to the model as the text of an error result, except a `StoreUnavailable`,
   * which repeats the activity.
   *
   * @param input the arguments as `spec.input` parsed them.
   * @returns the text for the model.
   */
  run(input: unknown, context: ToolContext): Promise<string>;
}

/**
 * A tool that changes something outside. The engine keeps a ledger of its effects, so that a crash repeats none: it
 * asks the tool what is there before, lets it act, and asks it again when nobody knows how that ended.
 */
export interface ActingTool {
  readonly spec: ToolSpec;
  readonly effect: 'external';
  /** When the user is asked before it acts. */
  readonly approval: ApprovalMark;
  /** What a call changes, in a few words: a path. For people, for the record, and for what the agent claims. */
  targetOf(input: unknown): string;
  /**
   * What is there before, as a short text for `check`. Changes nothing.
   *
   * @throws what makes the call impossible; the model reads the message.
   */
  look(input: unknown, context: ToolContext): Promise<string>;
  /** Makes the change. What it throws is told to the model when `check` sees that nothing has happened. */
  act(input: unknown, context: ActContext): Promise<EffectReceipt>;
  /**
   * Whether the change took place. Must not guess: what it can't tell is `unknown`.
   *
   * @param before what `look` said.
   */
  check(input: unknown, before: string, context: ToolContext): Promise<EffectVerdict>;
}

export type Tool = ReadingTool | ActingTool;

/** Every tool of this worker, by name. What an agent may call is this, cut down to its `allowed_tools`. */
export type ToolRegistry = ReadonlyMap<string, Tool>;

/** @throws Error when two tools have one name, or one has a state tool's: that is a fault in the worker's set-up. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const registry = new Map<string, Tool>();
  for (const tool of tools) {
    if (isStateTool(tool.spec.name)) {
      throw new Error(`"${tool.spec.name}" is the name of a tool that triads or teams have`);
    }
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
