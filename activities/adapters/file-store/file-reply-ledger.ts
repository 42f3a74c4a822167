import type { LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { hashBytes } from '../../text/bytes.ts';
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

/** JSON keeps the parts apart: ids may hold any separator. */
function toCanonicalKey({ workflow_id, run_id, activity_id }: LedgerKey): string {
  return JSON.stringify([workflow_id, run_id, activity_id]);
}
