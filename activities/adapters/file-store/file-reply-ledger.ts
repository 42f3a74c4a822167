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
      const records = segments.find(hashBytes(toCanonicalKey(key)));
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
      await segments.refresh();
      const newest = new Map<string, LedgerEntry>();
      const begun = new Map<string, number>();
      const records = segments.listAttempts(since).toSorted((a, b) => a.time - b.time);
      for (const record of records) {
        // One after the other: their number has no bound.
        // oxlint-disable-next-line no-await-in-loop
        const entry = await readEntry(segments, record);
        if (entry === null || !isBelow(entry.key.workflow_id, place)) continue;
        const attempt = `${record.key} ${record.attempt}`;
        const begun_at = begun.get(attempt) ?? record.time;
        begun.set(attempt, begun_at);
        newest.set(attempt, { ...entry, begun_at, written_at: record.time });
      }
      return [...newest.values()];
    },
    put: async (key, attempt, value, batch) => {
      const canonical = toCanonicalKey(key);
      const body = Buffer.from(sealJson({ key: canonical, value }));
      const artifacts = [...(batch?.staged ?? [])];
      await segments.append([
        ...artifacts.map(([ref, bytes]) => ({ key: ref, attempt: 0, body: bytes })),
        { key: hashBytes(canonical), attempt, body },
      ]);
      for (const [ref, bytes] of artifacts) segments.cache.set(ref, bytes);
    },
  };
}

/** @returns null when the record is damaged. */
async function readEntry(
  segments: Segments,
  record: FoundRecord,
): Promise<Omit<LedgerEntry, 'begun_at' | 'written_at'> | null> {
  const bytes = await segments.read(record);
  const entry = bytes === null ? undefined : openSealed(bytes.toString('utf8'));
  const key = isRecord(entry) && typeof entry['key'] === 'string' ? readKey(entry['key']) : null;
  if (key === null || !fits(entry, key)) return null;
  return { key, attempt: record.attempt, value: entry.value };
}

function isBelow(workflowId: string, place: string): boolean {
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
    const entry = bytes === null ? undefined : openSealed(bytes.toString('utf8'));
    if (fits(entry, key)) return [entry.value];
  }
  return [];
}

function fits(entry: unknown, key: LedgerKey): entry is { readonly value: unknown } {
  return (
    typeof entry === 'object' &&
    entry !== null &&
    'key' in entry &&
    entry.key === toCanonicalKey(key) &&
    'value' in entry
  );
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
