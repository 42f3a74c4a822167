import { open } from 'node:fs/promises';
import { listSegments, readingFile } from '../../activities/adapters/file-store/segment-files.ts';
import { scanRecords } from '../../activities/adapters/file-store/segment-records.ts';
import type { RecordPlace } from '../../activities/adapters/file-store/segment-records.ts';

/** A record of a home, with its segment. */
export interface StoredRecord extends RecordPlace {
  readonly path: string;
  readonly body: Buffer;
}

/** Reads all whole records of a home, from its files. */
export async function storedRecords(home: string): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (const file of (await listSegments(home)) ?? []) {
    const bytes = await readingFile(file.path, (readAt, size) => readAt(0, size));
    if (bytes === null) continue;
    const part = (offset: number, length: number): Buffer =>
      bytes.subarray(offset, offset + length);
    const { places } = await scanRecords(file.id, async (...at) => part(...at), 0, bytes.length);
    for (const place of places) {
      records.push({ ...place, path: file.path, body: part(place.offset, place.length) });
    }
  }
  return records;
}

/** Returns the addresses of all artifacts of a home, sorted. */
export async function storedArtifacts(home: string): Promise<readonly string[]> {
  const records = await storedRecords(home);
  return [
    ...new Set(records.flatMap(({ key, attempt }) => (attempt === 0 ? [key] : []))),
  ].toSorted();
}

/** Bytes that a test has damaged. */
export interface Damage {
  /** A segment. */
  readonly path: string;
  /** Writes the old bytes back. */
  mend(): Promise<void>;
}

/**
 * Damages every copy of an artifact, or entry of the reply ledger, in its file.
 *
 * @param how `torn`: the second half of its bytes is zero. `lost`: its header is damaged too, so nothing says that it was
 * ever there.
 */
export async function damageRecord(
  home: string,
  key: string,
  how: 'torn' | 'lost' = 'torn',
): Promise<Damage> {
  const records = (await storedRecords(home)).filter((one) => one.key === key);
  const [first] = records;
  if (first === undefined) throw new Error(`No record has the key ${key}.`);
  const undo: (() => Promise<void>)[] = [];
  for (const { path, offset, length } of records) {
    const half = Math.floor(length / 2);
    undo.push(await overwrite(path, offset + half, Buffer.alloc(length - half)));
    if (how === 'lost') undo.push(await overwrite(path, offset - 10, Buffer.alloc(10)));
  }
  return {
    path: first.path,
    mend: async () => {
      for (const one of undo) await one();
    },
  };
}

/** Overwrites part of a file. @returns a function that writes back what was there. */
export async function overwrite(
  path: string,
  offset: number,
  bytes: Uint8Array,
): Promise<() => Promise<void>> {
  const old = await readingFile(path, (readAt) => readAt(offset, bytes.length));
  const write = async (content: Uint8Array): Promise<void> => {
    const handle = await open(path, 'r+');
    await handle.write(content, 0, content.length, offset);
    await handle.close();
  };
  await write(bytes);
  return () => write(old ?? bytes);
}
