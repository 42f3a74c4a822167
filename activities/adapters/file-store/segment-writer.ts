import { constants, lstatSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { checkInside, makeDirectory, syncDirectory } from './confinement.ts';
import { newSegmentId, segmentsFolder, segmentSuffix } from './segment-files.ts';
import { encodeRecord, type RecordPlace, type SegmentRecord } from './segment-records.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** A segment is closed when it has this many bytes or is this old: a prune frees space segment by segment. */
export const segmentBytesMax = 32 * 1024 * 1024;
const segmentMsMax = 24 * 60 * 60 * 1_000;

/** Milliseconds after which an idle segment's file is closed, so that its disk can be unmounted. */
const idleMs = 100;

/** Segments that may be taken away in a row while one flush is tried. */
const lossesMax = 5;

/** Records that are safe, and where. */
export interface Written {
  readonly id: string;
  readonly path: string;
  readonly places: readonly RecordPlace[];
  readonly end: number;
}

/** The segment that this process writes. */
interface Current {
  readonly id: string;
  readonly path: string;
  readonly ino: number;
  readonly since: number;
  /** End of what is safe. */
  end: number;
  /** Open while there is something to write. */
  handle: FileHandle | null;
}

interface Waiting {
  readonly records: readonly SegmentRecord[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Appends records to a segment of its own, so that no process ever waits for another.
 *
 * SW1. When `append` resolves, its records survive a power cut, and a prune that begins later sees them.
 * SW2. All records that arrive during a flush are written by one write and flushed by one fdatasync.
 * SW3. After a failed write or flush nothing is appended behind what it may have left.
 * SW4. A group of records that can't be written is tried again one by one: a full disk still takes small ones.
 *
 * A prune takes a segment away by renaming it. The writer looks after each flush whether its file still has its name; if
 * not, it writes the records again, into a new segment. So either the prune reads them, or they are not in its way.
 *
 * @param onWritten Called with the records before `append` resolves.
 */
export function createSegmentWriter(home: string, onWritten: (written: Written) => void) {
  const waiting: Waiting[] = [];
  let current: Current | null = null;
  let isWriting = false;
  let idle: NodeJS.Timeout | undefined;

  async function flush(records: readonly SegmentRecord[]): Promise<void> {
    for (let losses = 0; losses < lossesMax; losses += 1) {
      // Each try needs the outcome of the one before it.
      // oxlint-disable-next-line no-await-in-loop
      const segment = await ready();
      // oxlint-disable-next-line no-await-in-loop
      const written = await writeInto(segment, records).catch(async (error: unknown) => {
        current = null;
        await abandon(segment);
        throw toStoreUnavailable('write', segment.path, error);
      });
      if (written !== null) return onWritten(written);
      current = null;
      // oxlint-disable-next-line no-await-in-loop
      await close(segment);
    }
    const path = segmentsFolder(home);
    throw new StoreUnavailable(`Each new file in "${path}" is taken away at once.`, {
      path,
      code: null,
    });
  }

  /** Returns the segment to write, open. */
  async function ready(): Promise<Current & { handle: FileHandle }> {
    if (current !== null && isFull(current)) {
      await close(current);
      current = null;
    }
    const segment = current ?? (await createSegment(home));
    current = segment;
    const handle = segment.handle ?? (await reopen(segment));
    if (handle !== null) return Object.assign(segment, { handle });
    current = null;
    return ready();
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    clearTimeout(idle);
    while (waiting.length > 0) {
      const group = waiting.splice(0);
      // What arrives meanwhile is the next group.
      // oxlint-disable-next-line no-await-in-loop
      await writeGroup(group);
    }
    isWriting = false;
    idle = setTimeout(() => {
      if (current !== null && !isWriting) void close(current);
    }, idleMs).unref();
  }

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      await flush(group.flatMap(({ records }) => records));
      for (const { resolve } of group) resolve();
    } catch (error) {
      const [only, ...others] = group;
      if (others.length === 0) only?.reject(error);
      // oxlint-disable-next-line no-await-in-loop
      else for (const one of group) await writeGroup([one]);
    }
  }

  return {
    /** @throws {StoreUnavailable} naming the path, the reason and a cure. */
    append: (records: readonly SegmentRecord[]): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting.push({ records, resolve, reject });
        if (!isWriting) void writeAll();
      }),
    /** Returns true for the segment that this process writes now. */
    isCurrent: (id: string): boolean => current?.id === id,
  };
}

function isFull({ end, since }: Current): boolean {
  const ms = Date.now() - since;
  return end >= segmentBytesMax || ms >= segmentMsMax || ms < 0;
}

async function createSegment(home: string): Promise<Current> {
  const folder = segmentsFolder(home);
  const id = newSegmentId();
  const path = join(folder, `${id}${segmentSuffix}`);
  try {
    checkInside(home, path);
    await makeDirectory(folder, 0o700);
    const handle = await open(path, 'wx', 0o600);
    try {
      await syncDirectory(folder);
      const { ino } = await handle.stat();
      return { id, path, ino, since: Date.now(), end: 0, handle };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    throw toStoreUnavailable('write', path, error);
  }
}

/** @returns null when the segment is not there any more. */
async function reopen({ path, ino }: Current): Promise<FileHandle | null> {
  try {
    const handle = await open(path, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
    if ((await handle.stat()).ino === ino) return handle;
    await handle.close();
    return null;
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes(getCode(error) ?? '')) return null;
    throw toStoreUnavailable('write', path, error);
  }
}

/** @returns null when the segment was taken away before the records were safe. */
async function writeInto(
  segment: Current & { handle: FileHandle },
  records: readonly SegmentRecord[],
): Promise<Written | null> {
  const { id, path, ino, handle, end: begin } = segment;
  const places: RecordPlace[] = [];
  const parts: Uint8Array[] = [];
  let end = begin;
  for (const record of records) {
    const encoded = encodeRecord(id, record);
    const { body, ...header } = record;
    end += encoded.reduce((sum, { byteLength }) => sum + byteLength, 0);
    places.push({ ...header, offset: end - body.byteLength, length: body.byteLength });
    parts.push(...encoded);
  }
  await writeWhole(handle, Buffer.concat(parts), begin);
  await handle.datasync();
  // Not in the thread pool, where it takes ten times as long: the disk has just answered.
  if (lstatSync(path, { throwIfNoEntry: false })?.ino !== ino) return null;
  segment.end = end;
  return { id, path, places, end };
}

async function writeWhole(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    // A full disk takes the first part of what it gets.
    // oxlint-disable-next-line no-await-in-loop
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Removes what a failed write may have left, as far as the disk lets it: readers ignore a torn tail. */
async function abandon(segment: Current): Promise<void> {
  const { path, end, handle } = segment;
  if (end > 0) await handle?.truncate(end).catch(() => undefined);
  await close(segment);
  if (end === 0) await rm(path, { force: true }).catch(() => undefined);
}

async function close(segment: Current): Promise<void> {
  const { handle } = segment;
  segment.handle = null;
  await handle?.close().catch(() => undefined);
}
