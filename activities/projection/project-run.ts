import type { RecordChange, RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { listFiles } from './list-files.ts';
import { loadTexts } from './record-texts.ts';

/** What led from the record that was projected last to this one, or `all` to write the whole tree. */
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
  const files = listFiles(record).filter(
    (file) => scope === 'all' || scope.changes.some((change) => file.changesWith(change)),
  );
  const texts = await loadTexts(
    store,
    files.map((file) => file.needs),
  );
  for (const file of files) await writer.write(record.run_id, file.path, file.render(texts));
  return files.length;
}

/** Removes the files of a tree that `record` replaces, where it has none of that name itself. */
export async function removeReplacedFiles(
  replaced: RunRecord,
  record: RunRecord,
  writer: ProjectionWriter,
): Promise<void> {
  const kept = new Set(listFiles(record).map((file) => file.path));
  for (const { path } of listFiles(replaced)) {
    if (!kept.has(path)) await writer.remove(record.run_id, path);
  }
}
