import type { ToolProperty } from '../../contracts/agent-definition.ts';
import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { EffectReceipt } from '../../contracts/effect.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ReadStateCall, StateCall, StateToolName } from '../../contracts/state-call.ts';
import type { ApprovalMark } from '../../core/effects/decide-approval.ts';
import type { EffectVerdict } from '../../core/effects/step-effect.ts';
import { listFoundations } from '../../core/workspace/run-changes.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ToolSpec } from '../ports/model-client.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { WorkspacePlace } from '../ports/workspaces.ts';

/** The part of the calling delegation that every tool may see. */
export interface ToolContext {
  readonly store: ArtifactStore;
  readonly run_id: string;
  /** Empty for the planner. */
  readonly delegation_id: string;
  /** Delegations of the same wave that it depends on. */
  readonly builds_on: readonly string[];
  readonly record_ref: Ref;
  /** Aborted when the call took too long or the activity was cancelled. */
  readonly signal: AbortSignal;
}

/** Lists the web addresses that people and earlier searches named in the conversation, beyond those of the record. */
type ListAddresses = () => Promise<readonly string[]>;

/** The context of a tool that changes nothing. */
export interface ReadContext extends ToolContext {
  readonly listAddresses: ListAddresses;
  readonly upstream: readonly UpstreamOutput[];
  /** Details that may still be loaded. */
  readonly loads_left: number;
  /** Must be called when a detail was loaded: the delegation's record lists what its work rests on. */
  readonly onLoaded: (detailId: string) => void;
}

/** The context of a tool that finds out whether it has acted. */
export interface CheckContext extends ToolContext {
  /**
   * To be asked as late as can be: when all is ready, right before the change. Throws when the call was given up, or
   * another worker may have it: what a suspended worker left half done must not come after what was done since.
   */
  readonly mayStill: () => Promise<void>;
}

export interface ActContext extends CheckContext {
  /** The words of `look`. */
  readonly before: string;
  /** To be called with a function that returns the newest output, for people who watch. Its last line is shown. */
  readonly onTail?: ((read: () => string) => void) | undefined;
}

/** The fields that every tool has; the rest depends on its effect. */
export interface ToolEntry {
  readonly spec: ToolSpec;
  /**
   * True for a tool that is of use only if the run's input names a workspace: a run without one has no such tool. Absent:
   * every run has it.
   */
  readonly needsWorkspace?: true;
  /**
   * The callers that are offered it: `agents` whose file grants it; the `planner` while it decides on a wave, for it never does the work
   * itself; or the `turn` of a triad's member or a team's leader, as its workflow says.
   */
  readonly offeredTo: readonly ('agents' | 'planner' | 'turn')[];
  /**
   * Lists the names of inputs that a call provided, as evidence may name them. Absent: it provided none. @param input
   * As the model wrote it.
   */
  listInputs?(input: Readonly<Record<string, unknown>>): readonly unknown[];
  /** Describes a result that compaction left out, behind "Left out to save space". If absent: tool and input. */
  describeLeftOut?(left: LeftOutResult): string;
}

/** Result of a tool that compaction left out. */
export interface LeftOutResult {
  /** Arguments, cut. */
  readonly input: string;
  readonly content: string;
  readonly bytes: number;
}

/** The fields of a tool that an agent's file can grant. */
interface GrantableEntry extends ToolEntry {
  /** Properties that it gives its agents: see `core/plan/rule-of-two.ts`. */
  readonly brings: readonly ToolProperty[];
  /** Milliseconds that a call may take. If absent, as long as any tool. */
  timeoutMsOf?(input: unknown): number;
}

/** Tool that changes nothing outside: it may run any number of times, and the user is not asked. */
export interface ReadingTool extends GrantableEntry {
  readonly effect: 'read';
  /** True for a tool that calls `onLoaded`: its calls share `loads_left`. Absent: its calls load no detail. */
  readonly loads?: true;
  /**
   * Does the work. An error goes to the model as the text of an error result, except a `StoreUnavailable`, which
   * repeats the activity.
   *
   * @param input the arguments as `spec.input` parsed them.
   * @returns the text for the model.
   */
  run(input: unknown, context: ReadContext): Promise<string>;
}

/** Work of others that a call would replace or remove. */
export interface Loss {
  /** Identifies what is there now: an approval is for this state alone. */
  readonly before: string;
  /** The change in words, for the person who approves it. */
  readonly lines: readonly string[];
}

/**
 * A tool that changes something outside. The engine keeps a ledger of its effects, so that a crash repeats none: it
 * asks the tool what is there before, lets it act, and asks it again when the end of that is unknown.
 */
export interface ActingTool extends GrantableEntry {
  readonly effect: 'acting';
  /** Rule for asking the user before it acts. */
  readonly approval: ApprovalMark;
  /**
   * Returns the text for the model after the change. If absent, the text names the receipt. It is called again when the
   * activity is repeated.
   */
  describeDone?(receipt: EffectReceipt, context: ToolContext): Promise<string>;
  /** Names what a call changes, in a few words: a path. For people, for the record, and for what the agent claims. */
  targetOf(input: unknown): string;
  /**
   * Tells what of others a call would replace or remove: a person then approves it, whatever the rule says. Null when
   * nothing is lost. Changes nothing.
   *
   * @throws what makes the call impossible.
   */
  describeLoss?(input: unknown, context: ToolContext): Promise<Loss | null>;
  /**
   * Describes what is there before, as a short text for `check`. Changes nothing.
   *
   * @throws what makes the call impossible; the model reads the message.
   */
  look(input: unknown, context: ToolContext): Promise<string>;
  /** Makes the change. An error is reported to the model when `check` sees that nothing has happened. */
  act(input: unknown, context: ActContext): Promise<EffectReceipt>;
  /**
   * Tells whether the change took place. Must not guess: what it can't tell is `unknown`. It may take back what an attempt
   * left half done.
   *
   * @param before what `look` said.
   */
  check(input: unknown, before: string, context: CheckContext): Promise<EffectVerdict>;
}

/**
 * Tool that only puts something into the records of a triad, or queries them, or gives a task to a member of a team.
 * The workflow decides the call from its own state (seeds 001 and 002); outside it, only the arguments are read and
 * their texts stored. No agent file can grant one, and `runTool` runs none.
 */
export interface StateTool extends ToolEntry {
  readonly effect: 'state';
  readonly name: StateToolName;
  /**
   * Reads the arguments strictly. With a fault in them, nothing is stored.
   *
   * @throws StoreUnavailable
   */
  read(input: unknown, store: ArtifactStore): Promise<ReadStateCall>;
  /**
   * Completes a call from the others of its tool in the same reply: only there all of them and their texts are
   * available. If absent, each call stands alone.
   *
   * @throws StoreUnavailable
   */
  relate?(call: StateCall, others: readonly StateCall[], store: ArtifactStore): Promise<StateCall>;
}

/**
 * Tool whose work is a model call of its own, which the workflow makes: it has a ledger entry and counts in the budget like any other,
 * so a crash does not buy it again. It sends data out, so a guarded delegation is asked about each call.
 */
export interface ResearchTool extends GrantableEntry {
  readonly effect: 'research';
  readonly approval: ApprovalMark;
  /** Names what a call asks, in a few words. */
  targetOf(input: unknown): string;
  /**
   * Tells why a call may not be made, and what to do instead; null when it may.
   *
   * @throws StoreUnavailable
   */
  findRefusal(input: unknown, context: ResearchContext): Promise<string | null>;
}

/** The context in which a call of a research tool is judged. */
export interface ResearchContext extends Pick<ToolContext, 'store' | 'record_ref'> {
  readonly listAddresses: ListAddresses;
}

/** Tool that an agent's file can grant. */
export type GrantableTool = ReadingTool | ActingTool | ResearchTool;

export type Tool = GrantableTool | StateTool;

/** Tools of this worker by name, in the order in which they are offered. */
export type ToolRegistry = ReadonlyMap<string, Tool>;

/** Returns the tools that an agent with these `allowed_tools` may call, in the order of the registry. */
export function grantTools(
  registry: ToolRegistry,
  allowedTools: readonly string[],
): GrantableTool[] {
  const allowed = new Set(allowedTools);
  return listGrantable(registry).filter(({ spec }) => allowed.has(spec.name));
}

/** Returns the state tools of a turn in a fixed order, because tools come first of all in what the provider caches. */
export function offerStateTools(
  registry: ToolRegistry,
  names: readonly StateToolName[],
): StateTool[] {
  return [...registry.values()].flatMap((tool) =>
    tool.effect === 'state' && names.includes(tool.name) ? [tool] : [],
  );
}

/** Lists the tools that an agent's file can grant. */
export function listGrantable(registry: ToolRegistry): GrantableTool[] {
  return [...registry.values()].flatMap((tool) => (tool.effect === 'state' ? [] : [tool]));
}

/** Returns true for a tool whose agents work with files of the workspace. */
export function worksWithFiles({ brings, needsWorkspace }: GrantableTool): boolean {
  return needsWorkspace === true && brings.includes('private_data');
}

/** Lists the properties that each tool gives, by its name. */
export function listProperties(
  registry: ToolRegistry,
): Readonly<Record<string, readonly ToolProperty[]>> {
  return Object.fromEntries(listGrantable(registry).map(({ spec, brings }) => [spec.name, brings]));
}

export function listWorkspaceTools(registry: ToolRegistry): string[] {
  return listGrantable(registry).flatMap(({ spec, needsWorkspace }) =>
    needsWorkspace === true ? [spec.name] : [],
  );
}

/** Lists the names of the planner's tools, whatever its file says. */
export function listPlannerTools(registry: ToolRegistry): string[] {
  return listGrantable(registry).flatMap(({ spec, offeredTo }) =>
    offeredTo.includes('planner') ? [spec.name] : [],
  );
}

/** Returns the place in which the calling delegation works. */
export async function placeOf(context: ToolContext): Promise<WorkspacePlace> {
  const { store, record_ref, run_id, delegation_id, builds_on } = context;
  const { workspace_dir, changes, waves } = await readRecord(store, record_ref);
  const dir = workspace_dir ?? null;
  if (delegation_id === '' || changes === 'direct') return { run_id, dir };
  const foundations = listFoundations(delegation_id, waves, builds_on);
  return { run_id, dir, worker: { delegation_id, foundations } };
}
