import { rm, lstat, readdir, rmdir } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import type { Ref } from '../../../contracts/ref.ts';
import { isOutdated } from '../../ports/shared-values.ts';
import { listSharedKeys, readShared } from './file-shared-values.ts';
import { openVersionedFile } from './versioned-file.ts';
import type { Pruned } from '../../../contracts/store.ts';
import { planPrune, type IndexedRun } from '../../artifacts/store-upkeep.ts';
import { StoreUnavailable, type ArtifactStore } from '../../ports/artifact-store.ts';
import type { PruneOptions } from '../../ports/stores.ts';
import { toRunDirectory, toWrittenFolder, treePaths } from '../../projection/paths.ts';
import { removeFolder } from './atomic-write-file.ts';
import { readWholeSegment, rewriteSegment } from './rewrite-segment.ts';
import { listSegments } from './segment-files.ts';
import type { RecordPlace } from './segment-records.ts';
import { listFolder, toStoreUnavailable, getCode } from './store-errors.ts';
import {
  createFileRunIndex,
  listDamagedRuns,
  parseIndexEntry,
  runDirectoryOf,
} from './file-ledgers.ts';
import type { Segments } from './segments.ts';

interface PruneHomeOptions extends PruneOptions {
  readonly home: string;
  readonly segments: Segments;
  /** Artifacts of the segments. */
  readonly store: ArtifactStore;
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
 * HP7. Budgets of tenants stay. Budgets that were removed, and waits that a model API asked for, go when they are as old. Entries
 *      of kept research that lead to nothing go with the prune after that of their artifact.
 *
 * @throws {ArtifactCorrupt} HP5.
 * @throws {StoreUnavailable} when the home can't be read or written.
 */
export async function pruneHome(options: PruneHomeOptions): Promise<Pruned> {
  const { home, segments, store, endedBefore, dryRun } = options;
  await segments.refresh();
  const index = createFileRunIndex({ home });
  await refuseDamaged(home);
  const isStored = (ref: Ref): boolean => segments.find(ref).length > 0;
  const listStored = async (): Promise<typeof isStored> => {
    await segments.refresh();
    return isStored;
  };
  const plan = await planPrune({ store, index, listStored, endedBefore });
  const { removed, marked, before, keptBy } = plan;
  if (!dryRun) for (const run of removed) await removeRun(home, run);
  const swept = [
    ...(await sweepSegments(home, before, dryRun, marked)),
    ...(await sweepEffects(join(home, 'effects'), before, dryRun)),
    ...(await sweepShared(home, before, dryRun)),
    ...(await sweepResearch(home, before, dryRun, isStored)),
  ];
  return {
    runs: removed.map(({ record }) => record.run_id).toSorted(),
    records: swept.length,
    bytes: swept.reduce((sum, bytes) => sum + bytes, 0),
    kept_by: keptBy,
  };
}

/** @throws {StoreUnavailable} when nothing says what the run of an entry needs. */
async function refuseDamaged(home: string): Promise<void> {
  const [path] = await listDamagedRuns(home);
  if (path === undefined) return;
  throw new StoreUnavailable(
    `The newest entry in "${path}" is damaged, so planwave can't tell what its run needs. Try: move that folder away if you no longer need the run.`,
    { path, code: null },
  );
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
  const index = join(home, 'refs', runDirectoryOf(run_id));
  await removeRunFiles(home, run_id);
  try {
    // Only what was read: a run may begin under the same id.
    await rm(join(index, `${version}.json`), { force: true });
    await removeEmpty(index);
  } catch (error) {
    throw toStoreUnavailable('write', index, error);
  }
}

/** Removes the files of a run for people but for `workspace/`, and the notes of what it wrote. @throws {StoreUnavailable} */
export async function removeRunFiles(home: string, runId: string): Promise<void> {
  const folder = join(home, toRunDirectory(runId));
  try {
    for (const name of await listFolder(folder)) {
      // A command of an agent may have closed a folder of its copy.
      if (name !== treePaths.workspace) await removeFolder(join(folder, name));
    }
    await removeEmpty(folder);
    await removeFolder(join(home, toWrittenFolder(runId)));
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

/** Removes shared values that nobody needs and that were last written before a time. @returns the size of each file. */
async function sweepShared(
  home: string,
  before: number,
  dryRun: boolean,
): Promise<readonly number[]> {
  const root = join(home, 'shared');
  const folders = (await listSharedKeys(root)).map((key) => join(root, key));
  return sweepVersioned(home, folders, { before, dryRun }, (text) => {
    const shared = readShared(text);
    return shared !== null && isOutdated(shared.name, shared.value);
  });
}

/** Removes entries of kept research that lead to nothing and were last written before a time. @returns the size of each file. */
async function sweepResearch(
  home: string,
  before: number,
  dryRun: boolean,
  isStored: (ref: Ref) => boolean,
): Promise<readonly number[]> {
  const root = join(home, 'research');
  const folders = (await listFolder(root)).map((name) => join(root, name));
  return sweepVersioned(home, folders, { before, dryRun }, (text) => {
    const entry = text === null ? null : parseIndexEntry(text);
    return entry !== null && !isStored(entry.ref);
  });
}

/** Removes the newest version in each folder that is useless and was last written before a time. */
async function sweepVersioned(
  home: string,
  folders: readonly string[],
  { before, dryRun }: { readonly before: number; readonly dryRun: boolean },
  isUseless: (text: string | null) => boolean,
): Promise<readonly number[]> {
  const sizes: number[] = [];
  for (const folder of folders) {
    const { text, version } = await openVersionedFile(home, folder).readNewest();
    if (!isUseless(text)) continue;
    const path = join(folder, `${version}.json`);
    const found = await lstat(path).catch(() => null);
    if (found === null || found.mtimeMs >= before) continue;
    sizes.push(found.size);
    if (dryRun) continue;
    try {
      // Only what was read: a worker may write the next version.
      await rm(path, { force: true });
      await removeEmpty(folder);
    } catch (error) {
      throw toStoreUnavailable('write', folder, error);
    }
  }
  return sizes;
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
