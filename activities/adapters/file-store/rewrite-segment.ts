import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWriteFile } from './atomic-write-file.ts';
import { syncDirectory } from './confinement.ts';
import {
  asideSuffix,
  damagedSuffix,
  indexSuffix,
  newSegmentId,
  readingFile,
  segmentsFolder,
  segmentSuffix,
  type SegmentFile,
} from './segment-files.ts';
import { encodeRecord, scanRecords, type RecordPlace, type Scan } from './segment-records.ts';
import { toStoreUnavailable } from './store-errors.ts';

interface RewriteOptions {
  /** A segment that was written or renewed since, in Unix epoch milliseconds, stays as it is. If undefined: none does. */
  readonly before?: number;
  readonly isKept: (place: RecordPlace) => boolean;
}

/** A segment as it stands in its file. */
export interface ReadSegment extends Scan {
  readonly size: number;
  /** Time of its last write or renewal, in Unix epoch milliseconds. */
  readonly modifiedMs: number;
}

/** Reads a whole segment. @returns null when it is not there. */
export async function readWholeSegment({ id, path }: SegmentFile): Promise<ReadSegment | null> {
  return readingFile(path, async (readAt, size) => ({
    ...(await scanRecords(id, readAt, 0, size)),
    size,
    modifiedMs: (await stat(path)).mtimeMs,
  }));
}

/**
 * Replaces a segment by one with a part of its records, while others read and write it.
 *
 * GW1. The segment first loses its name: its writer looks for it after each flush, and writes anew what it has not
 *      acknowledged. What it has acknowledged is read here.
 * GW2. The segment is removed when its successor is safe. A crash leaves both, or the old one without its name, which
 *      readers read as well.
 * GW3. A segment with damaged bytes between its records is kept beside as `.damaged`: its owner may restore more of it.
 *
 * @returns the records that were left out; null when the segment stays as it was.
 * @throws {StoreUnavailable}
 */
export async function rewriteSegment(
  home: string,
  file: SegmentFile,
  { before = Infinity, isKept }: RewriteOptions,
): Promise<readonly RecordPlace[] | null> {
  const folder = segmentsFolder(home);
  const named = (suffix: string): string => join(folder, `${file.id}${suffix}`);
  const aside = { id: file.id, path: named(asideSuffix) };
  try {
    await rename(file.path, aside.path);
    const found = await readWholeSegment(aside);
    if (found === null) return null;
    const { places, gaps, modifiedMs } = found;
    const kept = places.filter(isKept);
    if (modifiedMs >= before) {
      await rename(aside.path, named(segmentSuffix));
      return null;
    }
    if (kept.length > 0) await copyRecords(home, aside, kept, modifiedMs);
    if (gaps.length > 0) await rename(aside.path, named(damagedSuffix));
    else await rm(aside.path);
    await rm(named(indexSuffix), { force: true });
    await syncDirectory(folder);
    return places.filter((place) => !isKept(place));
  } catch (error) {
    throw toStoreUnavailable('write', file.path, error);
  }
}

async function copyRecords(
  home: string,
  from: SegmentFile,
  places: readonly RecordPlace[],
  modifiedMs: number,
): Promise<void> {
  const id = newSegmentId();
  const parts = await readingFile(from.path, async (readAt) => {
    const encoded: Uint8Array[] = [];
    for (const { offset, length, ...header } of places) {
      // One after the other, as they stand on the disk.
      // oxlint-disable-next-line no-await-in-loop
      encoded.push(...encodeRecord(id, { ...header, body: await readAt(offset, length) }));
    }
    return encoded;
  });
  const path = join(segmentsFolder(home), `${id}${segmentSuffix}`);
  await atomicWriteFile(path, Buffer.concat(parts ?? []), { root: home, modifiedMs });
}
