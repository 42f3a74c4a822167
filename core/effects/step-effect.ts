/**
 * One change that a tool makes outside of the run, from the intention to its known result. The ledger keeps the state
 * after each step, so that an attempt after a crash knows what may have happened.
 *
 * Invariants:
 *   EF1. Every state takes every event; one that does not fit changes nothing, and the state's command is repeated.
 *   EF2. The tool acts only from `started`, which is in the ledger before; an effect that is found as `started` is
 *        checked first.
 *   EF3. Confirmed, failed and skipped are final: they neither change nor act.
 *   EF4. The tool acts again only when the check saw that nothing had happened, or when the user said so.
 *   EF5. An effect of unknown result is unverified until the user resolves it, and a resolution holds for the round it
 *        was asked in.
 *   EF6. With a truthful check the effect takes place at most once, whatever crashes when.
 *   EF7. A confirmation of an execution before a reset is checked again: it is either confirmed as it is now, begins
 *        anew, because nothing of it is left, or is unverified.
 */
import type { EffectReceipt, EffectResolution, WrittenFile } from '../../contracts/effect.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-evidence.ts';
import type { SeenCommand } from '../../contracts/verification.ts';

/** Result of a tool's check whether its effect took place. */
export type EffectVerdict =
  | { readonly type: 'happened'; readonly receipt: EffectReceipt }
  | { readonly type: 'absent' }
  /** `found`: a description for people of what the tool saw instead. */
  | { readonly type: 'unknown'; readonly found: string };

/** Circumstances in which an effect began. */
export interface Beginning {
  /** State that the tool saw before it acted, for its check. */
  readonly before: string;
  /** The execution of the workflow. A reset begins another one, in which later effects have not taken place. */
  readonly run_id: string;
}

export type EffectState =
  | { readonly type: 'intended'; readonly round: number }
  | ({ readonly type: 'started'; readonly round: number } & Beginning)
  /** `receipt` is null when the user vouched for the effect; `beginning` then, too. */
  | {
      readonly type: 'confirmed';
      readonly receipt: EffectReceipt | null;
      readonly beginning: Beginning | null;
    }
  | { readonly type: 'failed'; readonly reason: string }
  /** `round`: number of times the result was unknown, from 1. */
  | { readonly type: 'unverified'; readonly round: number; readonly found: string }
  | { readonly type: 'skipped'; readonly found: string };

export type EffectEvent =
  /** The tool has looked at the present state and is about to act. */
  | ({ readonly type: 'begun' } & Beginning)
  | { readonly type: 'acted'; readonly receipt: EffectReceipt }
  /** The tool could not act, or reported so; `verdict` is what it saw then. */
  | { readonly type: 'threw'; readonly reason: string; readonly verdict: EffectVerdict }
  /** The tool has checked an effect whose result was unknown. */
  | { readonly type: 'checked'; readonly verdict: EffectVerdict }
  | { readonly type: 'resolved'; readonly round: number; readonly choice: EffectResolution };

export type EffectCommand = 'begin' | 'act' | 'check' | 'ask' | 'report';

export interface EffectStep {
  readonly state: EffectState;
  readonly command: EffectCommand;
}

/** @param found The ledger's entry; null when there is none. */
export function openEffect(found: EffectState | null): EffectStep {
  const state: EffectState = found ?? { type: 'intended', round: 1 };
  return { state, command: commandOf(state) };
}

/**
 * Returns the beginning to check when the confirmation is from an execution before a reset: later effects of that
 * execution may have replaced it. Null when there is nothing to check.
 *
 * @param runIds Executions that make the same calls in the same order.
 */
export function findEarlierBeginning(
  state: EffectState,
  runIds: readonly string[],
): Beginning | null {
  if (state.type !== 'confirmed' || state.beginning === null) return null;
  return runIds.includes(state.beginning.run_id) ? null : state.beginning;
}

/** Applies the check of a confirmation from before a reset. */
export function reopenEffect(beginning: Beginning, verdict: EffectVerdict): EffectStep {
  switch (verdict.type) {
    case 'happened':
      return openEffect({ type: 'confirmed', receipt: verdict.receipt, beginning });
    case 'absent':
      return openEffect(null);
    case 'unknown':
      return openEffect({ type: 'unverified', round: 1, found: verdict.found });
  }
}

export function stepEffect(state: EffectState, event: EffectEvent): EffectStep {
  const next = applyEvent(state, event);
  // Only an attempt that has just written `started`, or has checked since, may act.
  const mayAct =
    next.type === 'started' &&
    ((state.type === 'intended' && event.type === 'begun') || isSeenAbsent(state, event));
  return { state: next, command: mayAct ? 'act' : commandOf(next) };
}

function commandOf(state: EffectState): EffectCommand {
  switch (state.type) {
    case 'intended':
      return 'begin';
    case 'started':
      return 'check';
    case 'unverified':
      return 'ask';
    case 'confirmed':
    case 'failed':
    case 'skipped':
      return 'report';
  }
}

function isSeenAbsent(state: EffectState, event: EffectEvent): boolean {
  return state.type === 'started' && event.type === 'checked' && event.verdict.type === 'absent';
}

/** @returns the same state when the event does not fit it. */
function applyEvent(state: EffectState, event: EffectEvent): EffectState {
  switch (state.type) {
    case 'intended':
      if (event.type === 'begun') {
        const { before, run_id } = event;
        return { type: 'started', round: state.round, before, run_id };
      }
      return event.type === 'threw' ? { type: 'failed', reason: event.reason } : state;
    case 'started':
      return applyToStarted(state, event);
    case 'unverified':
      return event.type === 'resolved' && event.round === state.round
        ? resolve(state, event.choice)
        : state;
    case 'confirmed':
    case 'failed':
    case 'skipped':
      return state;
  }
}

type Started = Extract<EffectState, { type: 'started' }>;
type Unverified = Extract<EffectState, { type: 'unverified' }>;

function applyToStarted(state: Started, event: EffectEvent): EffectState {
  const beginning = { before: state.before, run_id: state.run_id };
  if (event.type === 'acted') return { type: 'confirmed', receipt: event.receipt, beginning };
  if (event.type !== 'checked' && event.type !== 'threw') return state;
  const { verdict } = event;
  switch (verdict.type) {
    case 'happened':
      return { type: 'confirmed', receipt: verdict.receipt, beginning };
    case 'absent':
      return event.type === 'threw' ? { type: 'failed', reason: event.reason } : state;
    case 'unknown':
      return { type: 'unverified', round: state.round, found: verdict.found };
  }
}

function resolve(state: Unverified, choice: EffectResolution): EffectState {
  switch (choice) {
    case 'verified':
      return { type: 'confirmed', receipt: null, beginning: null };
    case 'retry':
      return { type: 'intended', round: state.round + 1 };
    case 'skip':
      return { type: 'skipped', found: state.found };
  }
}

/** Commands of an author that its verifier sees. */
const commandsSeenMax = 10;

/**
 * Lists the commands that a delegation ran, in their order, for those who judge its work.
 *
 * Invariants:
 *   CW1. Only a command whose run is confirmed is listed, with the exit code that the engine saw.
 *   CW2. Each says whether the delegation confirmed a change of a file after it: what it showed may no longer hold then.
 *   CW3. At most `commandsSeenMax` are listed, the newest.
 *
 * @param effects Effects of the delegation, in the order of its calls.
 */
export function listCommands(effects: readonly KnownEffect[]): SeenCommand[] {
  const made = effects.flatMap(({ state, receipt = null }) =>
    state === 'confirmed' && receipt !== null && receipt.call === undefined ? [receipt] : [],
  );
  const lastChange = made.findLastIndex(({ command }) => command === undefined);
  return made
    .flatMap(({ target, sha256, command }, at): SeenCommand[] =>
      command === undefined
        ? []
        : [
            {
              command: target,
              exit_code: command.exit_code,
              result_ref: sha256,
              files_changed_after: at < lastChange,
            },
          ],
    )
    .slice(-commandsSeenMax);
}

/** Shipped tools that change files of the workspace. Tools of a worker's owner and of MCP servers do not know its place. */
export const folderTools: readonly string[] = [
  'write_file',
  'edit_file',
  'delete_file',
  'run_command',
];

export function changesFolder(tool: string): boolean {
  return folderTools.includes(tool);
}

/**
 * Lists the files that a delegation wrote, each with its newest content.
 *
 * Invariants:
 *   WF1. Each path is listed once, with the content of its newest confirmed effect; unverified effects, removed files,
 *        commands and calls of something elsewhere are left out.
 *   WF2. At most `writtenFilesMax` files are listed, the newest.
 *
 * @param effects Effects of the delegation, in the order of its calls.
 */
export function listWritten(effects: readonly KnownEffect[]): WrittenFile[] {
  const files = new Map<string, WrittenFile>();
  for (const { state, tool, arguments_ref, receipt = null } of effects) {
    if (
      state !== 'confirmed' ||
      receipt === null ||
      receipt.command !== undefined ||
      receipt.call !== undefined
    )
      continue;
    if (tool === undefined || arguments_ref === undefined) continue;
    const { target: path, sha256, bytes, removed, content_ref } = receipt;
    // Deleted first, so that the newest is last in order.
    files.delete(path);
    if (removed !== true) {
      const content = content_ref !== undefined && { content_ref };
      files.set(path, { path, sha256, bytes, tool, arguments_ref, ...content });
    }
  }
  return [...files.values()].slice(-engineLimits.writtenFilesMax);
}
