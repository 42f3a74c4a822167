import type { Ref } from '../../contracts/ref.ts';
import type { RecordChange, RunRecord } from '../../contracts/run-record.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import type { RecordDeps } from './deps.ts';
import { readRecord } from './read-record.ts';

type PublishDeps = Pick<RecordDeps, 'store' | 'index' | 'projection'>;

/**
 * Stores a record and makes it the one that readers see: in the index, and as the readable tree.
 *
 * Every step can be repeated. An attempt that comes late, because its worker had been suspended, finds a descendant of
 * its record in the index and leaves it there. A record that does not follow from the indexed one (the workflow was
 * reset, or its id is used again) replaces it, tree included.
 *
 * @param changes what led to `record` from the one before it.
 */
export async function publishRecord(
  deps: PublishDeps,
  record: RunRecord,
  changes: readonly RecordChange[],
): Promise<Ref> {
  const ref = await deps.store.put(JSON.stringify(record));
  const indexed = await deps.index.read(record.run_id);
  // The index is written last, so whoever finds this record there has nothing left to do.
  if (indexed === ref) return ref;
  if (indexed !== null && indexed === record.previous_ref) {
    await projectRun(record, deps.store, deps.projection, { changes });
  } else {
    const current = indexed === null ? null : await readOrNull(deps, indexed);
    if (current !== null && (await isAncestor(deps, { record, ref }, current))) return ref;
    if (current !== null) await removeReplacedFiles(current, record, deps.store, deps.projection);
    await projectRun(record, deps.store, deps.projection, 'all');
  }
  await deps.index.write(record.run_id, ref);
  return ref;
}

/** An indexed record that can't be read has no claim on its place. */
async function readOrNull(deps: PublishDeps, ref: Ref): Promise<RunRecord | null> {
  try {
    return await readRecord(deps.store, ref);
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}

async function isAncestor(
  deps: PublishDeps,
  older: { readonly record: RunRecord; readonly ref: Ref },
  newer: RunRecord,
): Promise<boolean> {
  let at: RunRecord | null = newer;
  while (at !== null && at.revision > older.record.revision) {
    if (at.previous_ref === older.ref) return true;
    at = at.previous_ref === null ? null : await readOrNull(deps, at.previous_ref);
  }
  return false;
}
