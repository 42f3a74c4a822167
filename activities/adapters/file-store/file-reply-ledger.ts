import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { hashBytes } from '../../text/bytes.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { openSealed, sealJson } from './sealed-json.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/**
 * Ledger entries as files, `<home>/ledger/ab/<rest of the key's hash>.<attempt>`, sealed JSON `{key, value}`. An entry
 * whose hash or key does not fit counts as missing.
 */
export function createFileReplyLedger(options: { readonly home: string }): ReplyLedger {
  const { home } = options;
  const toPath = (key: LedgerKey): string => {
    const hash = hashBytes(toCanonicalKey(key));
    return join(home, 'ledger', hash.slice(0, 2), hash.slice(2));
  };
  return {
    find: async (key) => {
      const path = toPath(key);
      const attempts = await listAttempts(home, path);
      const texts = await Promise.all(
        attempts.map((attempt) => readFileInside(home, `${path}.${attempt}`)),
      );
      return texts.flatMap((bytes) => (bytes === null ? [] : openEntry(bytes, key)));
    },
    put: async (key, attempt, value) => {
      const text = sealJson({ key: toCanonicalKey(key), value });
      await atomicWriteFile(`${toPath(key)}.${attempt}`, text, { root: home });
    },
  };
}

/** The attempts that have an entry, the first one first. */
async function listAttempts(home: string, path: string): Promise<readonly number[]> {
  const dir = dirname(path);
  const prefix = `${basename(path)}.`;
  try {
    await checkInside(home, path);
    const names = (await readdir(dir)).filter((name) => name.startsWith(prefix));
    return names.map((name) => Number(name.slice(prefix.length))).toSorted((a, b) => a - b);
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', dir, error);
  }
}

/** @returns the value alone, or nothing. */
function openEntry(bytes: Buffer, key: LedgerKey): readonly unknown[] {
  const entry = openSealed(bytes.toString('utf8'));
  const fits =
    typeof entry === 'object' &&
    entry !== null &&
    'key' in entry &&
    entry.key === toCanonicalKey(key);
  return fits && 'value' in entry ? [entry.value] : [];
}

/** JSON keeps the parts apart: ids may hold any separator. */
function toCanonicalKey({ workflow_id, run_id, activity_id }: LedgerKey): string {
  return JSON.stringify([workflow_id, run_id, activity_id]);
}
