import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EffectState } from '../../../core/effects/step-effect.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { EffectLedger } from '../../ports/effect-ledger.ts';
import { openSealed, sealJson } from './sealed-json.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';
import { openVersionedFile } from './versioned-file.ts';

/** Versions of an entry's shape, newest last. An entry of another version counts as damaged: it is never acted on. */
const entryVersions: readonly unknown[] = [1];

interface Entry {
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
  for (const folder of await listFolder(root)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: their number has no bound
    for (const rest of await listFolder(join(root, folder))) keys.push(`${folder}${rest}`);
  }
  return keys.filter((key) => effectKey.test(key));
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return (await readdir(path)).toSorted();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getCode(error) ?? '')) return [];
    throw toStoreUnavailable('read', path, error);
  }
}

const effectKey = /^[0-9a-f]{64}$/;

/** Returns the key of an effect. @throws {Error} when it is none. */
export function checkEffectKey(key: string): string {
  if (effectKey.test(key)) return key;
  throw new Error(`"${key}" is no key of an effect.`);
}

export function sealEffect(key: string, state: EffectState): string {
  return sealJson({ version: 1, key, state } satisfies Entry);
}

/** @param text null when there is something else in the place of an entry. */
export function openEffect(text: string | null, key: string): EffectState | typeof damagedEntry {
  const entry = text === null ? undefined : openSealed(text);
  return isEntry(entry) && entry.key === key ? entry.state : damagedEntry;
}

/** Checks the version only: planwave alone writes entries, and the seal proves that one is unchanged. */
function isEntry(value: unknown): value is Entry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    entryVersions.includes(value.version) &&
    'key' in value &&
    'state' in value
  );
}
