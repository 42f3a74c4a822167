import { join } from 'node:path';
import type { LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { atomicWriteFile, readFileOrNull } from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { computeHash, openSealed, sealJson } from './sealed-json.ts';
import { toStoreUnavailable } from './store-errors.ts';

/**
 * Ledger entries as files, `<home>/ledger/ab/<rest of the key's hash>`, sealed JSON `{key, value}`. An entry whose hash or
 * key does not fit counts as missing.
 */
export function createFileReplyLedger(options: { readonly home: string }): ReplyLedger {
  const toPath = (key: LedgerKey): string => {
    const hash = computeHash(toCanonicalKey(key));
    return join(options.home, 'ledger', hash.slice(0, 2), hash.slice(2));
  };
  return {
    find: async (key) => {
      const path = toPath(key);
      await checkInside(options.home, path).catch((error: unknown) => {
        throw toStoreUnavailable('read', path, error);
      });
      const bytes = await readFileOrNull(path);
      return bytes === null ? null : parseEntry(bytes.toString('utf8'), key);
    },
    put: async (key, value) => {
      const text = sealJson({ key: toCanonicalKey(key), value });
      await atomicWriteFile(toPath(key), text, { root: options.home });
    },
  };
}

function parseEntry(text: string, key: LedgerKey): unknown {
  const entry = openSealed(text);
  const fits =
    typeof entry === 'object' &&
    entry !== null &&
    'key' in entry &&
    entry.key === toCanonicalKey(key);
  return fits && 'value' in entry ? entry.value : null;
}

/** JSON keeps the parts apart: ids may hold any separator. */
function toCanonicalKey({ workflow_id, run_id, activity_id }: LedgerKey): string {
  return JSON.stringify([workflow_id, run_id, activity_id]);
}
