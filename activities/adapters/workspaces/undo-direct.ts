import type { EffectReceipt, RecordedEffect } from '../../../contracts/effect.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import type { WorkspacePlace, Workspaces } from '../../ports/workspaces.ts';
import { definedOnly } from '../../../core/json.ts';
import { hashBytes } from '../../text/bytes.ts';
import { createFileWorkspaces } from './file-workspaces.ts';

/** A file that a run changed in the user's folder itself. */
interface ChangedFile {
  readonly path: string;
  /**
   * Contents that were not the run's own when it replaced them. One: the file before the run. None: there was no file. More: the
   * user changed the file during the run.
   */
  readonly before: readonly Ref[];
  /** Permissions of that content, if they are known. */
  readonly mode: number | undefined;
  /** SHA-256 after each change of the run; null where it removed the file. */
  readonly after: ReadonlySet<string | null>;
}

export type UndoneFiles =
  | { readonly state: 'done'; readonly files: { change: string; path: string }[] }
  /** Nothing was changed: these files are not what the run left, or were changed by the user in between. */
  | { readonly state: 'conflict'; readonly files: readonly string[] };

/**
 * Puts back what agents have replaced, edited and removed in the user's folder itself, and removes what they added. What
 * commands did is not undone: nothing keeps it.
 *
 * @param dir The user's folder.
 */
export async function undoDirect(
  { home, store }: { readonly home: string; readonly store: ArtifactStore },
  { run_id, effects = [] }: Pick<RunRecord, 'run_id' | 'effects'>,
  dir: string,
): Promise<UndoneFiles> {
  const workspaces = createFileWorkspaces({ home, keep: (content) => store.put(content) });
  const place: WorkspacePlace = { run_id, dir };
  const undone: UndoneFile[] = [];
  const conflicts: string[] = [];
  for (const file of listChangedFiles(effects)) {
    /* oxlint-disable no-await-in-loop */
    const now = (await workspaces.look(place, file.path))?.sha256 ?? null;
    const before = await readBefore(store, file);
    if (before.has(now)) continue;
    const [content, ...others] = before.values();
    if (!file.after.has(now) || content === undefined || others.length > 0) {
      conflicts.push(file.path);
    } else undone.push({ file, now, content });
    /* oxlint-enable no-await-in-loop */
  }
  if (conflicts.length > 0) return { state: 'conflict', files: conflicts };
  const files: { change: string; path: string }[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const one of undone) files.push(await putBack(workspaces, place, one));
  return { state: 'done', files };
}

interface UndoneFile {
  readonly file: ChangedFile;
  /** SHA-256 of the present content; null for no file. */
  readonly now: string | null;
  /** Content before the run, byte for byte; null for no file. */
  readonly content: Uint8Array | null;
}

/** Reads the contents before the run, by SHA-256: with keys that is not the address. */
async function readBefore(
  store: ArtifactStore,
  { before }: ChangedFile,
): Promise<ReadonlyMap<string | null, Uint8Array | null>> {
  if (before.length === 0) return new Map([[null, null]]);
  const contents = await Promise.all(before.map((ref) => store.get(ref)));
  return new Map(contents.map((bytes) => [hashBytes(bytes), bytes]));
}

async function putBack(
  workspaces: Workspaces,
  place: WorkspacePlace,
  { file: { path, mode }, now, content }: UndoneFile,
): Promise<{ change: string; path: string }> {
  const terms = { expected: now };
  if (content === null) {
    await workspaces.remove(place, path, terms);
    return { change: 'deleted', path };
  }
  await workspaces.write(place, path, content, { ...terms, ...definedOnly({ mode }) });
  return { change: now === null ? 'added' : 'changed', path };
}

/**
 * Lists the files of confirmed effects. The record has effects in the order of the calls, which is not that of the changes when
 * one waited for its approval: so no effect of a file is taken for the first one or the last.
 */
function listChangedFiles(effects: readonly RecordedEffect[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const { state, receipt } of effects) {
    const isFile = receipt !== null && !receipt.command && !receipt.call && !receipt.web;
    if (state !== 'confirmed' || !isFile) continue;
    files.set(receipt.target, addChange(files.get(receipt.target), receipt));
  }
  return [...files.values()];
}

function addChange(
  file: ChangedFile | undefined,
  { target, sha256, removed, replaced_ref, replaced_mode }: EffectReceipt,
): ChangedFile {
  const { before = [], after = [], mode = replaced_mode } = file ?? {};
  return {
    path: target,
    before: replaced_ref === undefined ? before : [...before, replaced_ref],
    mode,
    after: new Set([...after, removed === true ? null : sha256]),
  };
}
