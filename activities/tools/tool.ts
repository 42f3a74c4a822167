import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { EffectReceipt } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ApprovalMark } from '../../core/effects/decide-approval.ts';
import type { EffectVerdict } from '../../core/effects/step-effect.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ToolSpec } from '../ports/model-client.ts';
import { isStateTool } from './state-tools/state-tools.ts';

/** Data of the calling delegation that a tool may see. */
export interface ToolContext {
  readonly store: ArtifactStore;
  readonly run_id: string;
  readonly record_ref: Ref;
  readonly upstream: readonly UpstreamOutput[];
  /** Number of details that may still be loaded. */
  readonly loads_left: number;
  /** Must be called when a detail was loaded: the delegation's record lists what its work rests on. */
  readonly onLoaded: (detailId: string) => void;
  /** Aborted when the call took too long or the activity was cancelled. */
  readonly signal: AbortSignal;
}

/** Context of a tool that acts. */
export interface ActContext extends ToolContext {
  /**
   * Must be called as late as possible: when all is ready, right before the change. Throws when the call was given up,
   * or another worker may have it: the half-done work of a suspended worker must not follow what was done since.
   */
  readonly mayStill: () => Promise<void>;
}

/** A tool that changes nothing outside: it may run any number of times, and nobody is asked. */
export interface ReadingTool {
  readonly spec: ToolSpec;
  readonly effect: 'none';
  /**
   * Does the work. An error goes to the model as the text of an error result, except a `StoreUnavailable`, which
   * repeats the activity.
   *
   * @param input the arguments as `spec.input` parsed them.
   * @returns the text for the model.
   */
  run(input: unknown, context: ToolContext): Promise<string>;
}

/**
 * Tool that changes something outside. The engine keeps a ledger of its effects, so that a crash repeats none: it asks
 * the tool for the state before, lets it act, and asks it again when the result is unknown.
 */
export interface ActingTool {
  readonly spec: ToolSpec;
  readonly effect: 'external';
  /** Rule for asking the user before it acts. */
  readonly approval: ApprovalMark;
  /** Describes what a call changes in a few words: a path. For people, for the record, and for the agent's claims. */
  targetOf(input: unknown): string;
  /**
   * Describes the state before the change, as a short text for `check`. Changes nothing.
   *
   * @throws when the call is impossible; the model reads the message.
   */
  look(input: unknown, context: ToolContext): Promise<string>;
  /** Makes the change. An error is reported to the model when `check` sees that nothing has happened. */
  act(input: unknown, context: ActContext): Promise<EffectReceipt>;
  /**
   * Checks whether the change took place. Must not guess: an uncertain result is `unknown`.
   *
   * @param before result of `look`.
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

/** Returns the tools that an agent with these `allowed_tools` may call, in the order of the registry. */
export function grantTools(registry: ToolRegistry, allowedTools: readonly string[]): Tool[] {
  const allowed = new Set(allowedTools);
  return [...registry.values()].filter((tool) => allowed.has(tool.spec.name));
}
