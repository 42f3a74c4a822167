import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { LedgerKey, ReplyLedger } from '../../ports/reply-ledger.ts';
import { atomicWriteFile, readFileOrNull } from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { toStoreUnavailable } from './store-errors.ts';

/**
 * Ledger entries as files, `<home>/ledger/ab/<rest of the key's hash>`: a line with the SHA-256 of what follows, then a
 * line of JSON `{key, value}`. An entry whose hash or key does not fit counts as missing.
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
      const body = `${JSON.stringify({ key: toCanonicalKey(key), value })}\n`;
      await atomicWriteFile(toPath(key), `${computeHash(body)}\n${body}`, { root: options.home });
    },
  };
}

function parseEntry(text: string, key: LedgerKey): unknown {
  const [hash = ''] = text.split('\n', 1);
  const body = text.slice(hash.length + 1);
  if (computeHash(body) !== hash) return null;
  const entry: unknown = JSON.parse(body);
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

function computeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
