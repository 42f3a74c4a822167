import type { LedgerEntry, LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { hashBytes } from '../../text/bytes.ts';
import { isRecord } from '../../../core/is-record.ts';
import { openSealed, sealJson } from './sealed-json.ts';
import { openSegments } from './segments.ts';
import type { FoundRecord, Segments } from './segments.ts';

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
    put: async (key, attempt, value, batch) => {
      const body = sealReply(key, value);
      const artifacts = [...(batch?.staged ?? [])];
      await segments.append([
        ...artifacts.map(([ref, bytes]) => ({ key: ref, attempt: 0, body: bytes })),
        { key: hashKey(key), attempt, body },
      ]);
      for (const [ref, bytes] of artifacts) segments.cache.set(ref, bytes);
    },
  };
}

/** Reads the whole entries that were written at a time or later, Unix epoch milliseconds, oldest first. */
export async function* listReplies(segments: Segments, since: number): AsyncGenerator<LedgerEntry> {
  await segments.refresh();
  for (const record of segments.listAttempts(since).toSorted((a, b) => a.time - b.time)) {
    // One after the other: their number has no bound.
    // oxlint-disable-next-line no-await-in-loop
    const bytes = await segments.read(record);
    const entry = bytes === null ? null : openReply(bytes);
    const { attempt, time } = record;
    if (entry !== null) yield { ...entry, attempt, begun_at: time, written_at: time };
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
