import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Ref } from '../../../contracts/ref.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { readRecord } from '../../artifacts/record-log.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import { createFileRunIndex, runDirectoryOf } from './file-run-index.ts';
import { readWholeSegment, rewriteSegment } from './rewrite-segment.ts';
import { listSegments } from './segment-files.ts';
import type { RecordPlace } from './segment-records.ts';
import type { Segments } from './segments.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

export interface PruneOptions {
  readonly home: string;
  readonly segments: Segments;
  /** Artifacts of the segments. */
  readonly store: ArtifactStore;
  /** Unix epoch seconds. Runs that ended before are removed. */
  readonly endedBefore: number;
  /** Counts only, and removes nothing. */
  readonly dryRun: boolean;
}

export interface Pruned {
  /** Ids of the removed runs, sorted. */
  readonly runs: readonly string[];
  /** Removed artifacts, and entries of both ledgers. */
  readonly records: number;
  readonly bytes: number;
  /** The open run that began first, if it keeps files that are older than `endedBefore` allows; null without one. */
  readonly kept_by: string | null;
}

/**
 * Removes runs that ended long ago: their files for people but for `workspace/`, their entries in the index, and all
 * artifacts and entries of the ledgers that no other run needs.
 *
 * HP1. What the record of a run that stays leads to is kept, however old it is.
 * HP2. A run that has not ended may need anything that was stored since it began, because its history refers to more than
 *      its record: nothing of that is removed. A clock may be wrong by an hour.
 * HP3. An artifact that a worker stores again in the meantime stays, and so does all that its segment holds.
 * HP4. After a crash the next prune removes the rest: a run leaves the index after its files, and before its artifacts.
 * HP5. A run whose record can't be read stops the prune before anything is removed.
 * HP6. Segments with damaged bytes stay as they are.
 *
 * @throws {ArtifactCorrupt} HP5.
 * @throws {StoreUnavailable} when the home can't be read or written.
 */
export async function pruneHome(options: PruneOptions): Promise<Pruned> {
  const { home, segments, store, endedBefore, dryRun } = options;
  await segments.refresh();
  const runs = await readRuns(home, store);
  const removed = runs.filter(({ record }) => isOver(record, endedBefore));
  const kept = runs.filter(({ record }) => !isOver(record, endedBefore));
  const marked = await markAll(segments, store, kept);
  const oldest = kept
    .map(({ record }) => record)
    .filter(({ status }) => status === null)
    .reduce<RunRecord | null>(
      (first, one) => (first === null || one.started_at < first.started_at ? one : first),
      null,
    );
  const openSince = (oldest?.started_at ?? Infinity) - clockSkewSeconds;
  const before = Math.min(endedBefore, openSince) * 1_000;
  if (!dryRun) for (const run of removed) await removeRun(home, run);
  const swept = [
    ...(await sweepSegments(home, before, dryRun, marked)),
    ...(await sweepEffects(join(home, 'effects'), before, dryRun)),
  ];
  return {
    runs: removed.map(({ record }) => record.run_id).toSorted(),
    records: swept.length,
    bytes: swept.reduce((sum, bytes) => sum + bytes, 0),
    kept_by: oldest !== null && openSince < endedBefore ? oldest.run_id : null,
  };
}

const clockSkewSeconds = 3_600;

interface IndexedRun {
  readonly record: RunRecord;
  readonly ref: Ref;
  readonly version: number;
}

function isOver({ status, updated_at }: RunRecord, endedBefore: number): boolean {
  return status !== null && updated_at < endedBefore;
}

async function readRuns(home: string, store: ArtifactStore): Promise<readonly IndexedRun[]> {
  const index = createFileRunIndex({ home });
  const runs: IndexedRun[] = [];
  const names = await index.list();
  const folders = await listFolder(join(home, 'refs'));
  const known = new Set(names.map(runDirectoryOf));
  const unknown = folders.find((folder) => !known.has(folder));
  if (unknown !== undefined) {
    const path = join(home, 'refs', unknown);
    throw new StoreUnavailable(
      `The newest entry in "${path}" is damaged, so nothing says what its run needs. Try: move that folder away if the run is of no use any more.`,
      { path, code: null },
    );
  }
  for (const name of names) {
    const { ref, version } = await index.read(name);
    if (ref !== null) runs.push({ record: await readRecord(store, ref), ref, version });
  }
  return runs;
}

/** Returns the addresses of everything that the records lead to. */
async function markAll(
  segments: Segments,
  store: ArtifactStore,
  runs: readonly IndexedRun[],
): Promise<ReadonlySet<Ref>> {
  const marked = new Set<Ref>();
  const waiting: Ref[] = runs.map(({ ref }) => ref);
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    // A text may also hold hashes that are no addresses.
    if (marked.has(ref) || segments.find(ref).length === 0) continue;
    marked.add(ref);
    const text = Buffer.from(await store.get(ref)).toString('latin1');
    waiting.push(...(text.match(/[0-9a-f]{64}/g) ?? []));
  }
  return marked;
}

/** Removes what is not marked from segments that were last written before a time. @returns the size of each record. */
async function sweepSegments(
  home: string,
  before: number,
  dryRun: boolean,
  marked: ReadonlySet<Ref>,
): Promise<readonly number[]> {
  const isKept = ({ key, attempt }: RecordPlace): boolean => attempt === 0 && marked.has(key);
  const sizes: number[] = [];
  for (const file of (await listSegments(home)) ?? []) {
    const found = await readWholeSegment(file);
    if (found === null || found.modifiedMs >= before || found.gaps.length > 0) continue;
    const isUseless = found.places.length === 0;
    if (found.places.every(isKept) && !isUseless) continue;
    const removed = dryRun
      ? found.places.filter((place) => !isKept(place))
      : await rewriteSegment(home, file, { before, isKept });
    sizes.push(...(removed ?? []).map(({ length }) => length));
  }
  return sizes;
}

async function removeRun(home: string, { record, version }: IndexedRun): Promise<void> {
  const { run_id } = record;
  const folder = join(home, toRunDirectory(run_id));
  const index = join(home, 'refs', runDirectoryOf(run_id));
  try {
    for (const name of await listFolder(folder)) {
      if (name !== treePaths.workspace) await rm(join(folder, name), { recursive: true });
    }
    await removeEmpty(folder);
    // Only what was read: a run may begin under the same id.
    await rm(join(index, `${version}.json`), { force: true });
    await removeEmpty(index);
  } catch (error) {
    throw toStoreUnavailable('write', folder, error);
  }
}

/** Removes effects that were last written before a time. @returns the size of each file. */
async function sweepEffects(
  root: string,
  before: number,
  dryRun: boolean,
): Promise<readonly number[]> {
  const sizes: number[] = [];
  try {
    for (const folder of await listFolder(root)) {
      for (const path of await listFiles(join(root, folder))) {
        // A worker removes older versions itself.
        const found = await lstat(path).catch(() => null);
        if (found === null || found.mtimeMs >= before) continue;
        sizes.push(found.size);
        if (!dryRun) await rm(path, { force: true });
        if (!dryRun) await removeEmpty(dirname(path));
      }
      if (!dryRun) await removeEmpty(join(root, folder));
    }
  } catch (error) {
    throw toStoreUnavailable('write', root, error);
  }
  return sizes;
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).toSorted();
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', path, error);
  }
}

/** Lists the files below a folder. An effect has a folder with its versions. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(getCode(error) ?? '')) throw error;
  });
}
