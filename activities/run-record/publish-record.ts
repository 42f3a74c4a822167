import type { Ref } from '../../contracts/ref.ts';
import type { RecordChange, RunRecord } from '../../contracts/run-record.ts';
import type { AssertCurrent } from '../agent-turn/while-current.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { IndexEntry } from '../ports/artifact-store.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import type { RecordDeps } from './deps.ts';
import { projectNewest } from './project-newest.ts';
import { readRecord } from './read-record.ts';

type PublishDeps = Pick<RecordDeps, 'store' | 'index' | 'projection'>;

/**
 * Stores a record and publishes it: in the index, and as the readable tree.
 *
 * Every step can be repeated. A late attempt, whose worker had been suspended, finds a descendant of its record in the
 * index and leaves it there; if the descendant came during its own writing, it rewrites the tree from that. A record
 * that does not follow from the indexed one (the workflow was reset, or its id is used again) replaces it, tree
 * included. So an attempt checks, after it has read the index, that the work is still its own: for a workflow that was
 * replaced in this way it is not.
 *
 * @param changes Changes that led to `record` from the one before it.
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
export async function publishRecord(
  deps: PublishDeps,
  record: RunRecord,
  changes: readonly RecordChange[],
  assertCurrent: AssertCurrent,
): Promise<Ref> {
  const ref = await deps.store.put(JSON.stringify(record));
  for (;;) {
    const indexed = await deps.index.read(record.run_id);
    if (await isSettled(deps, { record, ref }, indexed)) return ref;
    // If the index has another record than the previous one, the run may have been reset a moment ago.
    await assertCurrent(indexed.ref !== record.previous_ref);
    await projectOver(deps, record, changes, indexed);
    if (await deps.index.write(record.run_id, ref, indexed.version)) return ref;
    // Undoes the files of a record that was overtaken in between.
    await projectNewest(deps, record.run_id, record, (newest) => readOrNull(deps, newest));
  }
}

interface Stored {
  readonly record: RunRecord;
  readonly ref: Ref;
}

/** Returns true when nothing is left to do: the index, which is written last, has this record or a descendant. */
async function isSettled(
  deps: PublishDeps,
  { record, ref }: Stored,
  indexed: IndexEntry,
): Promise<boolean> {
  if (indexed.ref === null || indexed.ref === record.previous_ref) return false;
  if (indexed.ref === ref) return true;
  const current = await readOrNull(deps, indexed.ref);
  return current !== null && (await isAncestor(deps, { record, ref }, current));
}

/** Turns the tree of the indexed record into that of `record`. */
async function projectOver(
  deps: PublishDeps,
  record: RunRecord,
  changes: readonly RecordChange[],
  indexed: IndexEntry,
): Promise<void> {
  const { store, projection } = deps;
  if (indexed.ref !== null && indexed.ref === record.previous_ref) {
    await projectRun(record, store, projection, { changes });
    return;
  }
  const replaced = indexed.ref === null ? null : await readOrNull(deps, indexed.ref);
  if (replaced !== null) await removeReplacedFiles(replaced, record, store, projection);
  await projectRun(record, store, projection, 'all');
}

/** Returns null for an unreadable record, which may be replaced. */
async function readOrNull(deps: PublishDeps, ref: Ref): Promise<RunRecord | null> {
  try {
    return await readRecord(deps.store, ref);
  } catch (error) {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  }
}

async function isAncestor(deps: PublishDeps, older: Stored, newer: RunRecord): Promise<boolean> {
  let at: RunRecord | null = newer;
  while (at !== null && at.revision > older.record.revision) {
    if (at.previous_ref === older.ref) return true;
    at = at.previous_ref === null ? null : await readOrNull(deps, at.previous_ref);
  }
  return false;
}
