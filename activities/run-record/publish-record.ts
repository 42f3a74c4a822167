import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { AssertCurrent } from '../attempt/while-current.ts';
import { readPlace, readRecord } from '../artifacts/record-log.ts';
import type { RecordPlace } from '../artifacts/record-log.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { IndexEntry } from '../ports/artifact-store.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import type { RecordDeps } from './deps.ts';
import { projectNewest } from './export-run.ts';

type PublishDeps = Pick<RecordDeps, 'store' | 'index' | 'projection'>;

export interface StoredRecord {
  readonly record: RunRecord;
  readonly ref: Ref;
}

/**
 * Publishes a stored record: as the readable tree, then in the index.
 *
 * Every step can be repeated. A late attempt, whose worker had been suspended, finds a descendant of its record in the
 * index and leaves it there; if the descendant came during its own writing, it rewrites the tree from that. A record
 * that does not follow from the indexed one (the workflow was reset, or its id is used again) replaces it, tree
 * included. So an attempt checks, after it has read the index, that the work is still its own: for a workflow that was
 * replaced in this way it is not.
 *
 * @param before The record before it; null for the first.
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
export async function publishRecord(
  deps: PublishDeps,
  stored: StoredRecord,
  before: RunRecord | null,
  assertCurrent: AssertCurrent,
): Promise<void> {
  const { record, ref } = stored;
  for (;;) {
    const indexed = await deps.index.read(record.run_id);
    if (await isSettled(deps, stored, indexed)) return;
    // If the index has another record than the previous one, the run may have been reset a moment ago.
    await assertCurrent(indexed.ref !== record.previous_ref);
    await projectOver(deps, record, before, indexed);
    if (await deps.index.write(record.run_id, ref, indexed.version)) return;
    // Undoes the files of a record that was overtaken in between.
    await projectNewest(deps, record.run_id, record, (newest) =>
      orNull(readRecord(deps.store, newest)),
    );
  }
}

/** Returns true when nothing is left to do: the index, which is written last, has this record or a descendant. */
async function isSettled(
  { store }: PublishDeps,
  { record, ref }: StoredRecord,
  indexed: IndexEntry,
): Promise<boolean> {
  if (indexed.ref === null || indexed.ref === record.previous_ref) return false;
  if (indexed.ref === ref) return true;
  let at: RecordPlace | null = await orNull(readPlace(store, indexed.ref));
  while (at !== null && at.revision > record.revision) {
    if (at.previous_ref === ref) return true;
    at = at.previous_ref === null ? null : await orNull(readPlace(store, at.previous_ref));
  }
  return false;
}

/** Turns the tree of the indexed record into that of `record`. */
async function projectOver(
  { store, projection }: PublishDeps,
  record: RunRecord,
  before: RunRecord | null,
  indexed: IndexEntry,
): Promise<void> {
  if (before !== null && indexed.ref !== null && indexed.ref === record.previous_ref) {
    await projectRun(record, store, projection, { since: before });
    return;
  }
  const replaced = indexed.ref === null ? null : await orNull(readRecord(store, indexed.ref));
  if (replaced !== null) await removeReplacedFiles(replaced, record, store, projection);
  await projectRun(record, store, projection, 'all');
}

/** Returns null for an unreadable record, which may be replaced. */
async function orNull<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}
