import type { RecordedEffect } from '../../../contracts/effect.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import type { WorkspacePlace, Workspaces } from '../../ports/workspaces.ts';
import { hashBytes } from '../../text/bytes.ts';
import { createFileWorkspaces } from './file-workspaces.ts';

/** A file that a run changed in the user's folder itself. */
interface ChangedFile {
  readonly path: string;
  /** The content before the run's first change; null when there was no file. */
  readonly before: Ref | null;
  /** SHA-256 after the run's last change; null when it removed the file. */
  readonly after: string | null;
}

export type UndoneFiles =
  | { readonly state: 'done'; readonly files: { change: string; path: string }[] }
  /** Nothing was changed: these files are no longer what the run left, or what they were is no text. */
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
  const undone: { readonly file: ChangedFile; readonly text: string | null }[] = [];
  const conflicts: string[] = [];
  for (const file of listChangedFiles(effects)) {
    /* oxlint-disable no-await-in-loop */
    const now = (await workspaces.look(place, file.path))?.sha256 ?? null;
    const { sha256, text } = await readBefore(store, file);
    if (now === sha256) continue;
    if (now !== file.after || text === undefined) conflicts.push(file.path);
    else undone.push({ file, text });
    /* oxlint-enable no-await-in-loop */
  }
  if (conflicts.length > 0) return { state: 'conflict', files: conflicts };
  const files: { change: string; path: string }[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const { file, text } of undone) files.push(await putBack(workspaces, place, file, text));
  return { state: 'done', files };
}

/** Reads the content before the run. With keys its SHA-256 is not its address. */
async function readBefore(
  store: ArtifactStore,
  { before }: ChangedFile,
): Promise<{ readonly sha256: string | null; readonly text: string | null | undefined }> {
  if (before === null) return { sha256: null, text: null };
  const bytes = await store.get(before);
  return { sha256: hashBytes(bytes), text: toText(bytes) };
}

async function putBack(
  workspaces: Workspaces,
  place: WorkspacePlace,
  { path, after }: ChangedFile,
  text: string | null,
): Promise<{ change: string; path: string }> {
  const terms = { expected: after };
  if (text === null) {
    await workspaces.remove(place, path, terms);
    return { change: 'deleted', path };
  }
  await workspaces.write(place, path, text, terms);
  return { change: after === null ? 'added' : 'changed', path };
}

/** Lists the files of confirmed effects, in the order of their first change. */
function listChangedFiles(effects: readonly RecordedEffect[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const { state, receipt } of effects) {
    const isFile = receipt !== null && !receipt.command && !receipt.call && !receipt.web;
    if (state !== 'confirmed' || !isFile) continue;
    const { target, sha256, removed, replaced_ref = null } = receipt;
    const before = files.has(target) ? (files.get(target)?.before ?? null) : replaced_ref;
    files.set(target, { path: target, before, after: removed === true ? null : sha256 });
  }
  return [...files.values()];
}

/** @returns undefined for bytes that are no text. */
function toText(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}
