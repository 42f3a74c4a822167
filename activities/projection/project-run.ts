import type { RecordChange, RunRecord } from '../../contracts/run-record.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { listFiles } from './list-files.ts';
import type { ProjectedFile } from './list-files.ts';
import { loadTexts } from './record-texts.ts';

/** The changes since the record that was projected last, or `all` to write the whole tree. */
export type ProjectionScope = 'all' | { readonly changes: readonly RecordChange[] };

/**
 * Writes the readable tree of a run, one file after the other.
 *
 * @returns how many files were written.
 * @throws {StoreUnavailable} when the store can't be read or a file can't be written; a repetition goes on from there.
 * @throws {ArtifactCorrupt} when an artifact is missing or damaged.
 */
export async function projectRun(
  record: RunRecord,
  store: ArtifactStore,
  writer: ProjectionWriter,
  scope: ProjectionScope,
): Promise<number> {
  let files = listFiles(record).filter(
    (file) => scope === 'all' || scope.changes.some((change) => file.changesWith(change)),
  );
  let written = 0;
  while (files.length > 0) {
    const texts = await loadTexts(
      store,
      files.map((file) => file.needs),
    );
    for (const file of files) await writer.write(record.run_id, file.path, file.render(texts));
    written += files.length;
    files = files.flatMap((file) => file.below?.(texts) ?? []);
  }
  return written;
}

/** Removes the files of a tree that `record` replaces, where it has none of that name itself. */
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

/** A report that can't be read any more names no files. */
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
