import { constants } from 'node:fs';
import { lstat, lutimes, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createLruCache } from '../../artifacts/lru-cache.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import {
  asideSuffix,
  indexSuffix,
  listSegments,
  readingFile,
  segmentsFolder,
  type SegmentFile,
  SegmentIndex,
} from './segment-files.ts';
import { scanRecords, type RecordPlace, type SegmentRecord } from './segment-records.ts';
import { createSegmentWriter } from './segment-writer.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** A scan of at least this many bytes is worth an index file. */
const indexedBytesMin = 1024 * 1024;

/** Moves of one record, during one read of it, after which it counts as gone. A rewrite of a segment is two. */
const movesMax = 10;

/** A record, and the segment that has it. */
export interface FoundRecord extends RecordPlace {
  readonly id: string;
  readonly path: string;
}

export interface SegmentsOptions {
  /** Directory that planwave owns; created when something is stored. */
  readonly home: string;
  /** Most bytes of artifacts that stay in memory. Default 64 MiB; 0 keeps nothing. */
  readonly cacheMaxBytes?: number;
}

/** A segment as far as this process has read it. */
interface Known {
  path: string;
  index: SegmentIndex;
  /** End of what the index describes. */
  end: number;
  /** Size of the file when it was read. */
  size: number;
}

interface NewRecord extends Omit<SegmentRecord, 'time'> {
  /** Unix epoch milliseconds. Default: now. */
  readonly time?: number | undefined;
}

export type Segments = ReturnType<typeof openSegments>;

/**
 * Opens the records of a home, `<home>/segments/*.seg`. Every process appends to segments of its own and reads those of
 * all. Nothing is read or written before the first use.
 *
 * GS1. Records of other processes are found after a `refresh`, which reads the tails of their segments.
 * GS2. A torn tail is no record. It stays where it is, because nothing is written behind it.
 * GS3. A record that is renewed is not removed by a prune that looks for older ones.
 * GS4. A record is found while a prune or a repair moves it into another segment.
 */
export function openSegments({ home, cacheMaxBytes = 64 * 1024 * 1024 }: SegmentsOptions) {
  const known = new Map<string, Known>();
  let lastTime = 0;
  let reading: Promise<unknown> = Promise.resolve();
  let nextReading: Promise<boolean> | null = null;
  const writer = createSegmentWriter(home, ({ id, path, places, end }) => {
    const own = known.get(id) ?? { path, index: new SegmentIndex(), end, size: end };
    own.index.add(places);
    known.set(id, Object.assign(own, { end, size: end }));
  });

  const state: State = { home, known, isOwn: writer.isCurrent };
  const find = (key: string): readonly FoundRecord[] => findKnown(state, key);
  const refresh = (): Promise<boolean> => {
    // One that is at work may have missed what its caller looks for.
    if (nextReading === null) {
      nextReading = reading.then(() => {
        nextReading = null;
        return readAll(state);
      });
      reading = nextReading.catch(() => undefined);
    }
    return nextReading;
  };

  return {
    home,
    cache: createLruCache<Uint8Array>(cacheMaxBytes, ({ byteLength }) => byteLength),

    /**
     * Stores records with one flush. When the promise resolves, they survive a power cut.
     *
     * @throws {StoreUnavailable}
     */
    append: (records: readonly NewRecord[]): Promise<void> =>
      writer.append(
        records.map((record) => {
          lastTime = Math.max(Date.now(), lastTime + 1);
          return { ...record, time: record.time ?? lastTime };
        }),
      ),

    /** Finds the known records of a key. */
    find,

    listArtifacts: (): ReadonlySet<string> =>
      new Set(
        [...known.values()].flatMap(({ index }) =>
          index.list().flatMap(({ key, attempt }) => (attempt === 0 ? [key] : [])),
        ),
      ),

    /** Lists the known records of attempts that were written at a time or later, which are Unix epoch milliseconds. */
    listAttempts: (since: number): readonly FoundRecord[] =>
      [...known].flatMap(([id, { path, index }]) =>
        index
          .list()
          .filter(({ attempt, time }) => attempt > 0 && time >= since)
          .map((place) => ({ ...place, id, path })),
      ),

    /**
     * Finds out what other processes have stored or removed.
     *
     * @returns false when the home has no segments, as when its disk is not mounted.
     * @throws {StoreUnavailable}
     */
    refresh,

    /** Forgets a segment whose bytes are not those that were read: the next refresh reads it from its beginning. */
    forget(id: string): void {
      if (!writer.isCurrent(id)) known.delete(id);
    },

    /** @returns the body; null when the record is gone, or its segment shorter than it was. */
    read: (record: FoundRecord) => readMoved(record, find, refresh),

    /**
     * Makes a record of any process as safe and as young as a new one.
     *
     * @returns false when a prune has taken its segment away: then it has to be stored anew.
     * @throws {StoreUnavailable}
     */
    async renew({ id, path }: FoundRecord): Promise<boolean> {
      if (path.endsWith(asideSuffix)) return false;
      try {
        const now = new Date();
        // By name: a prune looks at the time after it has changed the name.
        await lutimes(path, now, now);
        // Its writer may not have flushed it yet.
        if (!writer.isCurrent(id)) await syncFile(path);
        return true;
      } catch (error) {
        if (['ENOENT', 'ELOOP'].includes(getCode(error) ?? '')) return false;
        throw toStoreUnavailable('write', path, error);
      }
    },
  };
}

function findKnown({ known }: State, key: string): readonly FoundRecord[] {
  return [...known].flatMap(([id, { path, index }]) =>
    index.find(key).map((place) => ({ ...place, id, path })),
  );
}

/** Reads a record, also while it is moved. */
async function readMoved(
  record: FoundRecord,
  find: (key: string) => readonly FoundRecord[],
  refresh: () => Promise<unknown>,
): Promise<Buffer | null> {
  for (let moves = 0, at: FoundRecord | undefined = record; at !== undefined; moves += 1) {
    /* oxlint-disable no-await-in-loop -- one try after the other */
    const bytes = await readRecord(at);
    if (bytes !== null || moves === movesMax) return bytes;
    await refresh();
    /* oxlint-enable no-await-in-loop */
    // A copy keeps its header.
    at = find(record.key).find(
      ({ attempt, time }) => attempt === record.attempt && time === record.time,
    );
  }
  return null;
}

async function readRecord({ path, offset, length }: FoundRecord): Promise<Buffer | null> {
  const bytes = await readingFile(path, (readAt) => readAt(offset, length));
  return bytes?.length === length ? bytes : null;
}

interface State {
  readonly home: string;
  /** Segments by their ids. */
  readonly known: Map<string, Known>;
  /** Tells the segment that this process writes: what is in it, the process knows. */
  readonly isOwn: (id: string) => boolean;
}

/** Reads what has changed. @returns false when the home has no segments. */
async function readAll(state: State): Promise<boolean> {
  for (let moves = 0; ; moves += 1) {
    /* oxlint-disable no-await-in-loop -- one after the other, because each takes memory */
    const before = [...state.known.keys()];
    const files = await listSegments(state.home);
    forgetRemoved(state, before, files ?? []);
    const unread = await Promise.all(
      (files ?? []).map(async (file) => ((await hasChanged(state, file)) ? [file] : [])),
    );
    let isMoved = false;
    for (const file of unread.flat()) isMoved = !(await readSegment(state, file)) || isMoved;
    /* oxlint-enable no-await-in-loop */
    // What was moved since it was listed has another name.
    if (!isMoved || moves === movesMax) return files !== null;
  }
}

function forgetRemoved(
  { known }: State,
  before: readonly string[],
  files: readonly SegmentFile[],
): void {
  const paths = new Map(files.map(({ id, path }) => [id, path]));
  for (const id of before) if (!paths.has(id)) known.delete(id);
  for (const [id, one] of known) one.path = paths.get(id) ?? one.path;
}

async function hasChanged({ known, isOwn }: State, { id, path }: SegmentFile): Promise<boolean> {
  const one = known.get(id);
  if (isOwn(id)) return false;
  if (one === undefined) return true;
  // Also for a long one: it may have been read while its last records were written.
  const found = await lstat(path).catch(() => null);
  return found?.size !== one.size;
}

/** Reads what has been appended to a segment since it was read. @returns false when it is not there. */
async function readSegment({ home, known }: State, { id, path }: SegmentFile): Promise<boolean> {
  const before = known.get(id);
  const indexPath = join(segmentsFolder(home), `${id}${indexSuffix}`);
  const saved = before ?? (await readIndex(home, indexPath));
  const scanned = await readingFile(path, async (readAt, size) => {
    const isFit = saved !== null && saved.end <= size;
    const { index, end } = isFit ? saved : { index: new SegmentIndex(), end: 0 };
    const scan = await scanRecords(id, readAt, end, size);
    index.add(scan.places);
    known.set(id, { path, index, end: scan.end, size });
    return scan.end - end;
  });
  const now = known.get(id);
  if (scanned === null) known.delete(id);
  else if (scanned >= indexedBytesMin && now !== undefined) {
    // It only saves time, and a reader may not be allowed to write.
    await atomicWriteFile(indexPath, now.index.encode(now.end)).catch(() => undefined);
  }
  return scanned !== null;
}

async function readIndex(
  home: string,
  path: string,
): Promise<{ readonly index: SegmentIndex; readonly end: number } | null> {
  const bytes = await readFileInside(home, path);
  return bytes === null ? null : SegmentIndex.decode(bytes);
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
