import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { checkInside } from './confinement.ts';
import type { ReadAt } from './segment-records.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Suffix of a segment. */
export const segmentSuffix = '.seg';
/** Suffix of a segment that a prune has taken away from its writer. Readers still read it. */
export const asideSuffix = '.aside';
/** Suffix of a segment whose whole records were copied into another one. Nothing reads it. */
export const damagedSuffix = '.damaged';
/** Suffix of a file that spares readers the scan of a segment. */
export const indexSuffix = '.idx';

const segmentFile = /^([0-9a-z]{9}-[0-9a-f]{12})\.(?:seg|aside)$/;

/** A segment of a home. */
export interface SegmentFile {
  /** Sorts by the time at which the segment began. */
  readonly id: string;
  readonly path: string;
}

export function segmentsFolder(home: string): string {
  return join(home, 'segments');
}

export function newSegmentId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`;
}

/**
 * Lists the segments of a home, newest first; null when the folder does not exist.
 *
 * @throws {StoreUnavailable} when they can't be listed.
 */
export async function listSegments(home: string): Promise<readonly SegmentFile[] | null> {
  const folder = segmentsFolder(home);
  try {
    await checkInside(home, join(folder, 'any'));
    const found = await readdir(folder, { withFileTypes: true });
    return found
      .flatMap((entry) => {
        const id = entry.isFile() ? segmentFile.exec(entry.name)?.[1] : undefined;
        return id === undefined ? [] : [{ id, path: join(folder, entry.name) }];
      })
      .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  } catch (error) {
    if (getCode(error) === 'ENOENT') return null;
    throw toStoreUnavailable('read', folder, error);
  }
}

/**
 * Opens a file for reading; runs `work` with a function that reads parts of it, and its size.
 *
 * @returns null when the file does not exist.
 * @throws {StoreUnavailable} when it can't be read.
 */
export async function readingFile<T>(
  path: string,
  work: (readAt: ReadAt, size: number) => Promise<T>,
): Promise<T | null> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { size } = await handle.stat();
    return await work(readFrom(handle), size);
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes(getCode(error) ?? '')) return null;
    throw toStoreUnavailable('read', path, error);
  } finally {
    await handle?.close();
  }
}

function readFrom(handle: FileHandle): ReadAt {
  return async (offset, length) => {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      // oxlint-disable-next-line no-await-in-loop
      const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  };
}
