import type { EffectReceipt } from '../../../contracts/effect.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { EffectVerdict } from '../../../core/effects/step-effect.ts';
import { definedOnly } from '../../../core/json.ts';
import type { FileState, FoundFile, WorkspacePlace, Workspaces } from '../../ports/workspaces.ts';
import { decodeText } from '../../text/bytes.ts';
import type { ToolContext } from '../tool.ts';

/** States of a file before and after its change: a SHA-256, or null for no file. */
export interface States {
  readonly before: string | null;
  readonly after: string | null;
  /** The content before in the store. Absent when nothing of others is lost. */
  readonly before_ref?: Ref;
  /** Permissions of the file that has it. */
  readonly before_mode?: number;
}

/** A change whose end is unknown. */
interface BegunChange {
  readonly place: WorkspacePlace;
  readonly path: string;
  /** True when the text after it is an artifact too. */
  readonly isKept: boolean;
}

/**
 * Finds out whether a change took place whose attempt did not live to say so, and where the contents are that it kept.
 *
 * @param before what `look` said.
 */
export async function checkChange(
  workspaces: Workspaces,
  { place, path, isKept }: BegunChange,
  before: string,
  context: ToolContext,
): Promise<EffectVerdict> {
  const states = readStates(before);
  const verdict = judge(path, await workspaces.look(place, path), states);
  if (verdict.type !== 'happened') return verdict;
  const { receipt } = verdict;
  const { before_ref, before_mode } = states;
  const replaced = definedOnly({ replaced_ref: before_ref, replaced_mode: before_mode });
  const hasText = isKept && receipt.removed !== true;
  const kept = hasText ? await keepText(workspaces, place, receipt, context) : {};
  return { ...verdict, receipt: { ...receipt, ...replaced, ...kept } };
}

function judge(target: string, found: FoundFile | null, { before, after }: States): EffectVerdict {
  const now = stateOf(found);
  if (now === after) {
    const receipt =
      found === null
        ? { target, sha256: before ?? '', bytes: 0, removed: true as const }
        : { target, sha256: found.sha256, bytes: found.bytes };
    return { type: 'happened', receipt };
  }
  if (now === before) return { type: 'absent' };
  return {
    type: 'unknown',
    found: `Expected after the change: ${describe(after)}. Before: ${describe(before)}. Now: ${describe(now)}.`,
  };
}

/** Stores the text after a change once more, which tells its address. */
async function keepText(
  workspaces: Workspaces,
  place: WorkspacePlace,
  { target, sha256 }: EffectReceipt,
  { store }: ToolContext,
): Promise<Pick<EffectReceipt, 'content_ref'>> {
  // By now it may be too long to be read, or another one.
  const found = await workspaces.read(place, target).catch(() => null);
  const text = found?.sha256 === sha256 ? decodeText(found.content) : null;
  return text === null ? {} : { content_ref: await store.put(text) };
}

export function readStates(before: string): States {
  // Written by `look`.
  const states: States = JSON.parse(before);
  return states;
}

export function stateOf(found: FileState | null): string | null {
  return found?.sha256 ?? null;
}

function describe(sha256: string | null): string {
  return sha256 === null ? 'no file' : `a file with SHA-256 ${sha256}`;
}
