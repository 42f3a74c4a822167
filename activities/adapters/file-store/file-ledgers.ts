import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Ref } from '../../../contracts/ref.ts';
import type { EffectState } from '../../../core/effects/step-effect.ts';
import { isRecord } from '../../../core/json.ts';
import type { RunIndex } from '../../ports/artifact-store.ts';
import { hashBytes } from '../../text/bytes.ts';
import { damagedEntry, type EffectLedger } from '../../ports/effect-ledger.ts';
import type { LedgerEntry, LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { listFolder, getCode, toStoreUnavailable } from './store-errors.ts';
import { openVersionedFile, openSealed, sealJson } from './versioned-file.ts';
import { openSegments, type FoundRecord, type Segments } from './segments.ts';

/** Most characters of an encoded name. Common file systems accept file names of 255 bytes. */
const encodedMaxLength = 200;

/** The file contains the name too, because a long one can't be read back from the directory's name. */
const IndexEntry = z.strictObject({ name: z.string(), ref: Ref });

/**
 * Creates an index of named references as versioned files, `<home>/refs/<encoded name>/<version>.json`: of runs, or in
 * `research` of technologies.
 *
 * FI1. Whatever a name contains, its files are in a directory directly in `refs`, whose name has lower-case letters,
 *      digits, "-", "_" and "%".
 * FI2. Two names never share a directory, not even where the file system ignores case or Unicode forms.
 * FI3. A damaged entry reads as one without a reference.
 * FI4. Of all writers after the same version one succeeds, and no writer replaces a version that it has not read.
 */
export function createFileRunIndex(options: {
  readonly home: string;
  readonly folder?: 'refs' | 'research';
}): RunIndex {
  const { home, folder = 'refs' } = options;
  const refs = join(home, folder);
  const readEntry = async (directory: string) => {
    const { text, version } = await openVersionedFile(home, join(refs, directory)).readNewest();
    return { entry: text === null ? null : parseIndexEntry(text), version };
  };
  return {
    write: (name, ref, after) => {
      const text = `${JSON.stringify({ name, ref: Ref.parse(ref) })}\n`;
      return openVersionedFile(home, join(refs, runDirectoryOf(name))).writeNext(text, after);
    },
    read: async (name) => {
      const { entry, version } = await readEntry(runDirectoryOf(name));
      return { ref: entry?.name === name ? entry.ref : null, version };
    },
    list: async () => {
      const names: string[] = [];
      for (const directory of await listDirectories(refs)) {
        const { entry } = await readEntry(directory);
        // A copy under another name is not the entry of its name.
        if (entry !== null && runDirectoryOf(entry.name) === directory) names.push(entry.name);
      }
      // Sorted by code unit, which is the same on every machine.
      return names.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    },
  };
}

/** Lists the folders of the run index whose newest entry is damaged. @throws {StoreUnavailable} */
export async function listDamagedRuns(home: string): Promise<readonly string[]> {
  const known = new Set((await createFileRunIndex({ home }).list()).map(runDirectoryOf));
  const folders = await listFolder(join(home, 'refs'));
  return folders.filter((one) => !known.has(one)).map((one) => join(home, 'refs', one));
}

async function listDirectories(refs: string): Promise<string[]> {
  try {
    if ((await lstat(refs)).isSymbolicLink()) return [];
    const found = await readdir(refs, { withFileTypes: true });
    return found.flatMap((one) => (one.isDirectory() && /^[nh]-/.test(one.name) ? one.name : []));
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', refs, error);
  }
}

export function parseIndexEntry(text: string): z.infer<typeof IndexEntry> | null {
  try {
    return IndexEntry.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the name of the directory in `refs`. Encodes by code unit, so that lone surrogates and both forms of "é" stay apart. The prefix keeps names like "con"
 * harmless.
 */
export function runDirectoryOf(name: string): string {
  const encoded = name.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80
      ? `%${code.toString(16).padStart(2, '0')}`
      : `%u${code.toString(16).padStart(4, '0')}`;
  });
  if (encoded.length <= encodedMaxLength) return `n-${encoded}`;
  const hash = hashBytes(Buffer.from(name, 'utf16le'));
  return `h-${hash}`;
}

/** Versions of an entry's shape, newest last. An entry of another version counts as damaged: it is never acted on. */
const entryVersions: readonly unknown[] = [1];

interface EffectEntry {
  readonly version: 1;
  readonly key: string;
  readonly state: EffectState;
}

/**
 * Creates a ledger of effects as versioned files, `<home>/effects/ab/<rest of the key>/<version>.json`, sealed JSON
 * `{version, key, state}`.
 *
 * FE1. An entry that is torn, damaged, of another key or of an unknown version does not count as missing.
 * FE2. Of two attempts at one effect, the late one changes nothing that the other has written.
 */
export function createFileEffectLedger(options: { readonly home: string }): EffectLedger {
  const fileOf = (key: string) => {
    checkEffectKey(key);
    const folder = join(options.home, 'effects', key.slice(0, 2), key.slice(2));
    return openVersionedFile(options.home, folder);
  };
  return {
    find: async (key) => {
      const { text, version } = await fileOf(key).readNewest();
      return { state: version === 0 ? null : openEffect(text, key), version };
    },
    put: async (key, state, after) => fileOf(key).writeNext(sealEffect(key, state), after),
  };
}

/** Returns the keys of all effects of a home, sorted. @throws {StoreUnavailable} */
export async function listEffectKeys(home: string): Promise<readonly string[]> {
  const root = join(home, 'effects');
  const keys: string[] = [];
  for (const folder of await listFolder(root, ['ENOENT', 'ENOTDIR'])) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: their number has no bound
    for (const rest of await listFolder(join(root, folder), ['ENOENT', 'ENOTDIR']))
      keys.push(`${folder}${rest}`);
  }
  return keys.filter((key) => effectKey.test(key));
}

const effectKey = /^[0-9a-f]{64}$/;

/** Returns the key of an effect. @throws {Error} when it is none. */
export function checkEffectKey(key: string): string {
  if (effectKey.test(key)) return key;
  throw new Error(`"${key}" is no key of an effect.`);
}

export function sealEffect(key: string, state: EffectState): string {
  return sealJson({ version: 1, key, state } satisfies EffectEntry);
}

/** @param text null when there is something else in the place of an entry. */
export function openEffect(text: string | null, key: string): EffectState | typeof damagedEntry {
  const entry = text === null ? undefined : openSealed(text);
  return isEntry(entry) && entry.key === key ? entry.state : damagedEntry;
}

/** Checks the version only: planwave alone writes entries, and the seal proves that one is unchanged. */
function isEntry(value: unknown): value is EffectEntry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    entryVersions.includes(value.version) &&
    'key' in value &&
    'state' in value
  );
}

/**
 * Creates a ledger of replies as records of segments: the key is the hash of the activity's, the body sealed JSON
 * `{key, value}`. Of one attempt, which one process makes, the newest record counts whose seal and key fit.
 *
 * @param options The home, or segments that an artifact store shares.
 */
export function createFileReplyLedger(
  options: { readonly home: string } | { readonly segments: Segments },
): ReplyLedger {
  const segments = 'segments' in options ? options.segments : openSegments(options);
  return {
    find: async (key) => {
      await segments.refresh();
      const records = segments.find(hashKey(key));
      const attempts = new Set(records.map(({ attempt }) => attempt).toSorted((a, b) => a - b));
      const values = await Promise.all(
        [...attempts].map((attempt) =>
          readNewest(
            segments,
            key,
            records.filter((one) => one.attempt === attempt),
          ),
        ),
      );
      return values.flat();
    },
    list: async (place, since) => {
      const newest = new Map<string, LedgerEntry>();
      for await (const entry of listReplies(segments, since)) {
        if (isBelow(entry.key.workflow_id, place)) keepNewest(newest, entry);
      }
      return [...newest.values()];
    },
    put: async (key, attempt, value, batch, time) => {
      const body = sealReply(key, value);
      const artifacts = [...(batch?.staged ?? [])];
      await segments.append([
        ...artifacts.map(([ref, bytes]) => ({ key: ref, attempt: 0, body: bytes })),
        { key: hashKey(key), attempt, body, time },
      ]);
      for (const [ref, bytes] of artifacts) segments.cache.set(ref, bytes);
    },
  };
}

/** Reads the whole entries that were written at a time or later, Unix epoch milliseconds, oldest first. */
export async function* listReplies(
  segments: Segments,
  since: number,
  onDamaged?: (place: string) => void,
): AsyncGenerator<LedgerEntry> {
  await segments.refresh();
  for (const record of segments.listAttempts(since).toSorted((a, b) => a.time - b.time)) {
    // One after the other: their number has no bound.
    // oxlint-disable-next-line no-await-in-loop
    const bytes = await segments.read(record);
    const entry = bytes === null ? null : openReply(bytes);
    const { attempt, time } = record;
    if (entry !== null) yield { ...entry, attempt, begun_at: time, written_at: time };
    else if (bytes !== null) onDamaged?.(`byte ${record.offset} of ${record.path}`);
  }
}

/** Keeps the newest entry of each attempt, with the time of its first one. */
export function keepNewest(newest: Map<string, LedgerEntry>, entry: LedgerEntry): void {
  const id = `${hashKey(entry.key)} ${entry.attempt}`;
  newest.set(id, { ...entry, begun_at: newest.get(id)?.begun_at ?? entry.begun_at });
}

export function isBelow(workflowId: string, place: string): boolean {
  return workflowId === place || workflowId.startsWith(`${place}/`);
}

/** @returns the value of the newest whole record alone, or nothing. */
async function readNewest(
  segments: Segments,
  key: LedgerKey,
  records: readonly FoundRecord[],
): Promise<readonly unknown[]> {
  for (const record of records.toSorted((a, b) => b.time - a.time)) {
    // Almost always the first one is whole.
    // oxlint-disable-next-line no-await-in-loop
    const bytes = await segments.read(record);
    const entry = bytes === null ? null : openReply(bytes);
    if (entry !== null && toCanonicalKey(entry.key) === toCanonicalKey(key)) return [entry.value];
  }
  return [];
}

/** Returns the hash of a key, under which its entries are stored. */
export function hashKey(key: LedgerKey): string {
  return hashBytes(toCanonicalKey(key));
}

export function sealReply(key: LedgerKey, value: unknown): Buffer {
  return Buffer.from(sealJson({ key: toCanonicalKey(key), value }));
}

/** @returns null when the entry is torn or damaged. */
export function openReply(bytes: Buffer): Pick<LedgerEntry, 'key' | 'value'> | null {
  const entry = openSealed(bytes.toString('utf8'));
  if (!isRecord(entry) || typeof entry['key'] !== 'string' || !('value' in entry)) return null;
  const key = readKey(entry['key']);
  return key === null ? null : { key, value: entry['value'] };
}

/** @returns null when it is no key. */
function readKey(canonical: string): LedgerKey | null {
  const [workflow_id, run_id, activity_id]: unknown[] = JSON.parse(canonical);
  return typeof workflow_id === 'string' &&
    typeof run_id === 'string' &&
    typeof activity_id === 'string'
    ? { workflow_id, run_id, activity_id }
    : null;
}

/** JSON keeps the parts apart: ids may hold any separator. */
function toCanonicalKey({ workflow_id, run_id, activity_id }: LedgerKey): string {
  return JSON.stringify([workflow_id, run_id, activity_id]);
}
