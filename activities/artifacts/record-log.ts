import type { Ref } from '../../contracts/ref.ts';
import {
  revisionVersions,
  type RecordBase,
  type RecordRevision,
  type RunEvent,
} from '../../contracts/run-log.ts';
import { runRecordVersions, type RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { foldRevision, isSnapshotDue } from '../../core/run/fold-run.ts';
import { ArtifactCorrupt, type ArtifactStore } from '../ports/artifact-store.ts';
import { createStoreCaches } from './lru-cache.ts';
import { readJson } from './read-artifact.ts';

/**
 * Newest records that were read or written, by store and reference. A reference is the hash of its revision, which names
 * everything before it, so an entry is never outdated.
 */
const recordsOf = createStoreCaches<RunRecord>(engineLimits.recordsCachedMax);

/**
 * Reads a record: folds the revisions since the last one that is stored whole, or since one in memory.
 *
 * @param ref A revision, or a record that is stored whole.
 * @throws {ArtifactCorrupt} when the record or a revision before it is missing, damaged, or of an unknown version, which
 * the message names.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readRecord(store: ArtifactStore, ref: Ref): Promise<RunRecord> {
  const records = recordsOf(store);
  const revisions: RecordRevision[] = [];
  let record: RunRecord | undefined;
  for (let at = ref; record === undefined;) {
    record = records.get(at);
    if (record !== undefined) break;
    // Each revision names the one before it.
    // oxlint-disable-next-line no-await-in-loop
    const entry = await readEntry(store, at);
    if (!('events' in entry)) record = entry;
    // Rather from the one before, if it is in memory: then the fold keeps the objects that an event does not change.
    else if (entry.base.revision === entry.revision && !records.has(entry.previous_ref)) {
      // oxlint-disable-next-line no-await-in-loop
      record = await readWhole(store, entry.base.ref);
    } else {
      checkOrder(revisions.at(-1), entry, at);
      revisions.push(entry);
      at = entry.previous_ref;
    }
  }
  const folded = revisions.reduceRight(foldRevision, record);
  records.set(ref, folded);
  return folded;
}

/**
 * Reads a record as it was before an event.
 *
 * @param ends Finds the event; the first one in the log counts. Without one, the record is read as it is.
 * @throws like `readRecord`.
 */
export async function readRecordBefore(
  store: ArtifactStore,
  ref: Ref,
  ends: (event: RunEvent) => boolean,
): Promise<RunRecord> {
  let cut: RecordRevision | null = null;
  for (let at: Ref | null = ref; at !== null;) {
    // Each revision names the one before it.
    // oxlint-disable-next-line no-await-in-loop
    const entry: RecordRevision | RunRecord = await readEntry(store, at);
    if ('events' in entry && entry.events.some(ends)) cut = entry;
    at = entry.previous_ref;
  }
  if (cut === null) return readRecord(store, ref);
  const events = cut.events.slice(0, cut.events.findIndex(ends));
  return foldRevision(await readRecord(store, cut.previous_ref), { ...cut, events });
}

export type RecordPlace = Pick<RunRecord, 'revision' | 'previous_ref'>;

/**
 * Reads the place of a record without folding it.
 *
 * @throws like `readRecord`.
 */
export async function readPlace(store: ArtifactStore, ref: Ref): Promise<RecordPlace> {
  return recordsOf(store).get(ref) ?? (await readEntry(store, ref));
}

/**
 * Stores events as the revision after `previousRef`, and the whole record too when it is due. Repeating it gives the same
 * reference.
 *
 * @param record The record after the events.
 * @returns the reference of the revision, and the record as a reader gets it: without secrets.
 * @throws like `readRecord`, and {StoreUnavailable} when the store can't be written.
 */
export async function appendRevision(
  store: ArtifactStore,
  previousRef: Ref,
  { events, record: after }: { readonly events: readonly RunEvent[]; readonly record: RunRecord },
): Promise<{ readonly ref: Ref; readonly record: RunRecord }> {
  const place = { revision: after.revision + 1, previous_ref: previousRef };
  const before = await findBase(store, previousRef);
  const grown = { ...before, chars_since: before.chars_since + JSON.stringify(events).length };
  const base = isSnapshotDue(grown, place.revision)
    ? await putWhole(store, { ...after, ...place })
    : grown;
  const revision: RecordRevision = { version: 1, ...place, events, base };
  const ref = await store.put(JSON.stringify(revision));
  return { ref, record: await readRecord(store, ref) };
}

async function putWhole(store: ArtifactStore, record: RunRecord): Promise<RecordBase> {
  const text = JSON.stringify(record);
  const ref = await store.put(text);
  return { ref, revision: record.revision, chars: text.length, chars_since: 0 };
}

/** Returns the newest record that is stored whole, as the next revision counts from it. */
async function findBase(store: ArtifactStore, ref: Ref): Promise<RecordBase> {
  const entry = await readEntry(store, ref);
  if ('events' in entry) return entry.base;
  const { revision } = entry;
  return { ref, revision, chars: JSON.stringify(entry).length, chars_since: 0 };
}

async function readWhole(store: ArtifactStore, ref: Ref): Promise<RunRecord> {
  const entry = await readEntry(store, ref);
  if (!('events' in entry)) return entry;
  throw new ArtifactCorrupt(`The artifact ${ref} is no whole record.`, { ref, path: ref });
}

async function readEntry(store: ArtifactStore, ref: Ref): Promise<RecordRevision | RunRecord> {
  const value = await readJson(store, ref);
  if (isRevision(value) || isWhole(value)) return value;
  const version = isVersioned(value) ? value.version : null;
  const found = version === null ? 'has no version' : `has version ${JSON.stringify(version)}`;
  throw new ArtifactCorrupt(
    `The run record ${ref} ${found}; this planwave reads ${runRecordVersions.join(', ')}. Try: the planwave that wrote it, or a newer one.`,
    { ref, path: ref },
  );
}

/** @param later The revision that names `entry` as the one before it; undefined for the newest. */
function checkOrder(
  later: RecordRevision | undefined,
  { revision }: RecordRevision,
  ref: Ref,
): void {
  if (later === undefined || later.revision === revision + 1) return;
  throw new ArtifactCorrupt(
    `The revision ${later.revision} of a record names ${ref} as the one before it, which is revision ${revision}.`,
    { ref, path: ref },
  );
}

// Versions only are checked: planwave alone writes records, and the address proves that one is unchanged.

function isRevision(value: unknown): value is RecordRevision {
  return isVersioned(value) && 'events' in value && includes(revisionVersions, value.version);
}

function isWhole(value: unknown): value is RunRecord {
  return isVersioned(value) && !('events' in value) && includes(runRecordVersions, value.version);
}

function isVersioned(value: unknown): value is { readonly version: unknown } {
  return typeof value === 'object' && value !== null && 'version' in value;
}

function includes(versions: readonly unknown[], version: unknown): boolean {
  return versions.includes(version);
}
