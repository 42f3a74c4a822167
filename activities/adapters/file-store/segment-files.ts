import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes, createHash } from 'node:crypto';
import { checkInside } from './confinement.ts';
import type { ReadAt, RecordPlace } from './segment-records.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

export const segmentSuffix = '.seg';
/** Suffix of a segment that a prune has taken away from its writer. Readers still read it. */
export const asideSuffix = '.aside';
/** Suffix of a segment whose whole records were copied into another one. Nothing reads it. */
export const damagedSuffix = '.damaged';
/** Suffix of a file that spares readers the scan of a segment. */
export const indexSuffix = '.idx';

const segmentFile = /^([0-9a-z]{9}-[0-9a-f]{12})\.(?:seg|aside)$/;

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
    checkInside(home, join(folder, 'any'));
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

const keyBytes = 32;
/** Key, offset (6 bytes), length (4), attempt (4) and time (8). */
const entryBytes = keyBytes + 22;

/** Most records that are kept as objects, which take five times the memory. */
const recentMax = 4_096;

/** Index of the records of one segment in memory: 54 bytes a record. */
export class SegmentIndex {
  /** Sorted by key. */
  #sorted: Buffer = Buffer.alloc(0);
  #recent: RecordPlace[] = [];
  readonly #recentByKey = new Map<string, RecordPlace[]>();

  add(places: readonly RecordPlace[]): void {
    for (const place of places) {
      this.#recent.push(place);
      const known = this.#recentByKey.get(place.key);
      if (known === undefined) this.#recentByKey.set(place.key, [place]);
      else known.push(place);
      if (this.#recent.length > recentMax) this.#sort();
    }
  }

  find(key: string): readonly RecordPlace[] {
    const found: RecordPlace[] = [];
    const wanted = Buffer.from(key, 'hex');
    for (let nth = this.#firstOf(wanted); nth < this.#count(); nth += 1) {
      const entry = this.#entryAt(nth);
      if (!entry.subarray(0, keyBytes).equals(wanted)) break;
      found.push(toPlace(entry));
    }
    return [...found, ...(this.#recentByKey.get(key) ?? [])];
  }

  /** Returns all records, sorted by key. */
  list(): readonly RecordPlace[] {
    this.#sort();
    return Array.from({ length: this.#count() }, (_, nth) => toPlace(this.#entryAt(nth)));
  }

  /** Returns the bytes of the index, with a SHA-256 of them and the end of the segment's part that they describe. */
  encode(end: number): Uint8Array {
    this.#sort();
    const head = Buffer.alloc(8);
    head.writeDoubleBE(end);
    const body = Buffer.concat([head, this.#sorted]);
    return Buffer.concat([createHash('sha256').update(body).digest(), body]);
  }

  /** @returns null when the bytes are damaged. */
  static decode(bytes: Buffer): { readonly index: SegmentIndex; readonly end: number } | null {
    const body = bytes.subarray(keyBytes);
    const isWhole = createHash('sha256').update(body).digest().equals(bytes.subarray(0, keyBytes));
    if (!isWhole || body.length < 8) return null;
    const index = new SegmentIndex();
    index.#sorted = body.subarray(8);
    return { index, end: body.readDoubleBE() };
  }

  #count(): number {
    return this.#sorted.length / entryBytes;
  }

  #entryAt(nth: number): Buffer {
    return this.#sorted.subarray(nth * entryBytes, (nth + 1) * entryBytes);
  }

  /** Returns the number of the first entry whose key is not below `key`. */
  #firstOf(key: Buffer): number {
    let low = 0;
    let high = this.#count();
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * entryBytes;
      if (this.#sorted.compare(key, 0, keyBytes, at, at + keyBytes) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sort(): void {
    if (this.#recent.length === 0) return;
    const entries = [
      ...Array.from({ length: this.#count() }, (_, nth) => this.#entryAt(nth)),
      ...this.#recent.map(toEntry),
    ];
    this.#sorted = Buffer.concat(entries.toSorted((a, b) => Buffer.compare(a, b)));
    this.#recent = [];
    this.#recentByKey.clear();
  }
}

function toEntry({ key, offset, length, attempt, time }: RecordPlace): Buffer {
  const entry = Buffer.alloc(entryBytes);
  entry.write(key, 0, 'hex');
  entry.writeUIntBE(offset, keyBytes, 6);
  entry.writeUInt32BE(length, keyBytes + 6);
  entry.writeUInt32BE(attempt, keyBytes + 10);
  entry.writeDoubleBE(time, keyBytes + 14);
  return entry;
}

function toPlace(entry: Buffer): RecordPlace {
  return {
    key: entry.toString('hex', 0, keyBytes),
    offset: entry.readUIntBE(keyBytes, 6),
    length: entry.readUInt32BE(keyBytes + 6),
    attempt: entry.readUInt32BE(keyBytes + 10),
    time: entry.readDoubleBE(keyBytes + 14),
  };
}
