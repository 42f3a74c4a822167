import type { RunRecord } from '../../contracts/run-record.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { listFiles } from './list-files.ts';
import { type ProjectedFile, loadTexts } from './record-texts.ts';

/**
 * The record that was projected last, whose unchanged files are not written again, or `all` for the whole tree; `anew` where the
 * tree was that of another record: then nothing in it belongs to work in progress.
 */
export type ProjectionScope = 'all' | 'anew' | { readonly since: RunRecord };

/**
 * Writes the readable tree of a run, one file after the other.
 *
 * @returns the number of files written.
 * @throws {StoreUnavailable} when the store can't be read or a file can't be written; a repetition continues from
 * there.
 * @throws {ArtifactCorrupt} when an artifact is missing or damaged.
 */
export async function projectRun(
  record: RunRecord,
  store: ArtifactStore,
  writer: ProjectionWriter,
  scope: ProjectionScope,
): Promise<number> {
  let files = typeof scope === 'string' ? listFiles(record) : listChanged(record, scope.since);
  let written = 0;
  while (files.length > 0) {
    const texts = await loadTexts(
      store,
      files.map((file) => file.needs),
    );
    for (const { path, render, mayGo } of files) {
      const mayReplace = scope === 'anew' ? undefined : bindRecord(mayGo, record);
      await writer.write(record.run_id, path, render(texts), { mayReplace });
    }
    written += files.length;
    files = files.flatMap((file) => file.below?.(texts) ?? []);
  }
  if (typeof scope !== 'string') await removeGone(record, scope.since, writer);
  return written;
}

/** Removes the files that the record had before and has no more: a session that has ended has another name. */
async function removeGone(
  record: RunRecord,
  since: RunRecord,
  writer: ProjectionWriter,
): Promise<void> {
  const kept = new Set(listFiles(record).map(({ path }) => path));
  for (const { path, mayGo } of listFiles(since)) {
    if (!kept.has(path)) await writer.remove(record.run_id, path, bindRecord(mayGo, record));
  }
}

function bindRecord(mayGo: ProjectedFile['mayGo'], record: RunRecord) {
  return mayGo && ((text: string) => mayGo(text, record));
}

/** Lists the files whose sources in the record are other objects than before: the fold keeps what an event leaves as it is. */
function listChanged(record: RunRecord, since: RunRecord): readonly ProjectedFile[] {
  const known = new Map(listFiles(since).map(({ path, of }) => [path, of]));
  return listFiles(record).filter(({ path, of }) => {
    const before = known.get(path);
    return before?.length !== of.length || of.some((source, at) => source !== before[at]);
  });
}

/** Removes the files of a tree that `record` replaces, except those whose names it uses itself. */
export async function removeReplacedFiles(
  replaced: RunRecord,
  record: RunRecord,
  store: ArtifactStore,
  writer: ProjectionWriter,
): Promise<void> {
  const kept = new Set(await listPaths(record, store));
  for (const path of await listPaths(replaced, store)) {
    if (!kept.has(path)) await writer.remove(record.run_id, path);
  }
}

async function listPaths(record: RunRecord, store: ArtifactStore): Promise<readonly string[]> {
  const paths: string[] = [];
  let files = listFiles(record);
  while (files.length > 0) {
    paths.push(...files.map((file) => file.path));
    const below = await Promise.all(files.map((file) => listBelow(file, store)));
    files = below.flat();
  }
  return paths;
}

/** Lists files below a file. A report that can't be read any more names none. */
async function listBelow(
  file: ProjectedFile,
  store: ArtifactStore,
): Promise<readonly ProjectedFile[]> {
  if (file.below === undefined) return [];
  try {
    return file.below(await loadTexts(store, [file.needs]));
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return [];
    throw error;
  }
}
