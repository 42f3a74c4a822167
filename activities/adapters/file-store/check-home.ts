import { join } from 'node:path';
import type { Ref } from '../../../contracts/ref.ts';
import { checkRecords, restore } from '../../artifacts/store-upkeep.ts';
import type { ArtifactStore } from '../../ports/artifact-store.ts';
import { hashBytes } from '../../text/bytes.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import { sharedCure, type ListedShared } from '../../ports/shared-values.ts';
import { createFileSharedValues } from './file-shared-values.ts';
import type { CheckedHome, HomeFault } from '../../../contracts/store.ts';
import {
  createFileEffectLedger,
  listEffectKeys,
  createFileRunIndex,
  listDamagedRuns,
} from './file-ledgers.ts';
import { readWholeSegment, rewriteSegment, type ReadSegment } from './rewrite-segment.ts';
import { openSealed } from './versioned-file.ts';
import { listSegments, readingFile, type SegmentFile } from './segment-files.ts';
import type { RecordPlace } from './segment-records.ts';
import { commandPrefix } from '../../../core/text/format.ts';

interface CheckOptions {
  readonly home: string;
  readonly store: ArtifactStore;
  /** Removes torn tails. */
  readonly repair: boolean;
}

/** A segment that was written since may have a record that is being written. */
const restMs = 60_000;

const removal = `${commandPrefix} fsck --repair, which removes them`;

/** A segment, and what is wrong with it. */
interface CheckedSegment extends ReadSegment {
  readonly file: SegmentFile;
  /** Records whose body is damaged. */
  readonly damaged: readonly RecordPlace[];
}

/**
 * Reads everything in a home and looks for damage.
 *
 * HC1. Every record is read and compared with its address or its seal, and every fault names its file and its place.
 * HC2. Everything that the record of a run leads to is looked up by the fields that hold references.
 * HC3. A repair removes only what no reader needs: torn records, and damaged copies of artifacts that are whole elsewhere.
 *      Workers may work meanwhile.
 *
 * @throws {StoreUnavailable} when the home can't be read, or a repair can't write.
 */
export async function checkHome({ home, store, repair }: CheckOptions): Promise<CheckedHome> {
  const whole = new Set<Ref>();
  const segments: CheckedSegment[] = [];
  for (const file of (await listSegments(home)) ?? []) {
    const found = await readWholeSegment(file);
    if (found === null) continue;
    const damaged = await findDamaged(file, found.places, whole);
    segments.push({ ...found, file, damaged });
  }
  const faults: HomeFault[] = [];
  const repaired: HomeFault[] = [];
  for (const segment of segments) {
    const { file, damaged } = segment;
    const copies = damaged.filter(({ key, attempt }) => attempt === 0 && whole.has(key));
    const isLost = (place: RecordPlace): boolean => !copies.includes(place);
    faults.push(...segment.gaps.map((gap) => describeGap(file, gap)));
    faults.push(...damaged.filter(isLost).map((place) => describeDamage(file, place)));
    const curable = [...describeTornTail(segment), ...copies.map((one) => describeCopy(file, one))];
    const offsets = new Set(copies.map(({ offset }) => offset));
    const isGone =
      repair &&
      curable.length > 0 &&
      (await rewriteSegment(home, file, { isKept: ({ offset }) => !offsets.has(offset) })) !== null;
    (isGone ? repaired : faults).push(...curable);
  }
  const effects = await checkEffects(home);
  const shared = await createFileSharedValues({ home }).list();
  const runs = await checkRuns(home, store, whole);
  return {
    runs: runs.count,
    records: segments.reduce(
      (sum, { places }) => sum + places.length,
      effects.count + shared.length,
    ),
    bytes: segments.reduce((sum, { size }) => sum + size, 0),
    faults: [...faults, ...effects.faults, ...findDamagedShared(shared), ...runs.faults],
    repaired,
    ...(runs.unchecked !== undefined && { unchecked: runs.unchecked }),
  };
}

function describeGap(
  { path }: SegmentFile,
  { offset, length }: { readonly offset: number; readonly length: number },
): HomeFault {
  return {
    where: path,
    what: `${length} bytes from byte ${offset} are damaged; the records in them are lost`,
    cure: restore,
  };
}

function describeDamage({ path }: SegmentFile, { key, attempt, offset }: RecordPlace): HomeFault {
  const lost =
    attempt === 0
      ? `the artifact ${key} is lost`
      : `an entry of the reply ledger is lost (${key}, attempt ${attempt}), and a repeat of its activity would pay again`;
  return {
    where: path,
    what: `the record at byte ${offset} is damaged: ${lost}`,
    cure: restore,
  };
}

function describeCopy({ path }: SegmentFile, { key, offset }: RecordPlace): HomeFault {
  return {
    where: path,
    what: `the record at byte ${offset} is damaged: a copy of the artifact ${key}, of which a whole one is stored`,
    cure: removal,
  };
}

function describeTornTail({ file, end, size, modifiedMs }: CheckedSegment): readonly HomeFault[] {
  if (end === size || modifiedMs > Date.now() - restMs) return [];
  return [
    {
      where: file.path,
      what: `the last ${size - end} bytes are no whole record: a process was killed while it wrote them, or they are damaged`,
      cure: removal,
    },
  ];
}

/** @param whole gets the addresses of whole artifacts. */
async function findDamaged(
  { path }: SegmentFile,
  places: readonly RecordPlace[],
  whole: Set<Ref>,
): Promise<readonly RecordPlace[]> {
  const damaged: RecordPlace[] = [];
  await readingFile(path, async (readAt) => {
    for (const place of places) {
      const { key, attempt, offset, length } = place;
      // One after the other, so that one record at a time is in memory.
      // oxlint-disable-next-line no-await-in-loop
      const body = await readAt(offset, length);
      const isArtifact = attempt === 0;
      const isWhole = isArtifact
        ? hashBytes(body) === key
        : openSealed(body.toString('utf8')) !== undefined;
      if (!isWhole) damaged.push(place);
      else if (isArtifact) whole.add(key);
    }
  });
  return damaged;
}

/** Describes the damaged ones of a store's shared values. */
export function findDamagedShared(shared: readonly ListedShared[]): readonly HomeFault[] {
  return shared
    .filter(({ name }) => name === null)
    .map(({ place }) => ({
      where: place,
      what: 'the shared value is damaged; if it is the budget of a tenant, its calls wait',
      cure: sharedCure,
    }));
}

async function checkEffects(
  home: string,
): Promise<{ readonly count: number; readonly faults: readonly HomeFault[] }> {
  const ledger = createFileEffectLedger({ home });
  const faults: HomeFault[] = [];
  const keys = await listEffectKeys(home);
  for (const key of keys) {
    const { state } = await ledger.find(key);
    if (state !== damagedEntry) continue;
    faults.push({
      where: join(home, 'effects', key.slice(0, 2), key.slice(2)),
      what: 'the entry of a side effect is damaged; whether it took place is unknown',
      cure: 'answer the question of its run about it, or restore the file from a backup',
    });
  }
  return { count: keys.length, faults };
}

async function checkRuns(
  home: string,
  store: ArtifactStore,
  whole: ReadonlySet<Ref>,
): Promise<Pick<CheckedHome, 'faults' | 'unchecked'> & { readonly count: number }> {
  const index = createFileRunIndex({ home });
  const names = await index.list();
  const faults = (await listDamagedRuns(home)).map((where) => ({
    where,
    what: 'the newest entry is damaged, so the record of its run is not found',
    cure: 'let its worker continue the run, which writes the entry again, or move the folder away',
  }));
  const records = await checkRecords(store, index, whole);
  return { count: names.length, ...records, faults: [...faults, ...records.faults] };
}
