import { join } from 'node:path';
import type { LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { hashBytes } from '../../tools/hash-bytes.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { openSealed, sealJson } from './sealed-json.ts';

/**
 * Ledger entries as files, `<home>/ledger/ab/<rest of the key's hash>`, sealed JSON `{key, value}`. An entry whose hash or
 * key does not fit counts as missing.
 */
export function createFileReplyLedger(options: { readonly home: string }): ReplyLedger {
  const toPath = (key: LedgerKey): string => {
    const hash = hashBytes(toCanonicalKey(key));
    return join(options.home, 'ledger', hash.slice(0, 2), hash.slice(2));
  };
  return {
    find: async (key) => {
      const bytes = await readFileInside(options.home, toPath(key));
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
