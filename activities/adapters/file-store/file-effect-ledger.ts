import { join } from 'node:path';
import type { EffectState } from '../../../core/effects/step-effect.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { EffectLedger } from '../../ports/effect-ledger.ts';
import { openSealed, sealJson } from './sealed-json.ts';
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
    if (!/^[0-9a-f]{64}$/.test(key)) throw new Error(`"${key}" is no key of an effect.`);
    const folder = join(options.home, 'effects', key.slice(0, 2), key.slice(2));
    return openVersionedFile(options.home, folder);
  };
  return {
    find: async (key) => {
      const { text, version } = await fileOf(key).readNewest();
      if (version === 0) return { state: null, version };
      const entry = text === null ? undefined : openSealed(text);
      const fits = isEntry(entry) && entry.key === key;
      return { state: fits ? entry.state : damagedEntry, version };
    },
    put: async (key, state, after) =>
      fileOf(key).writeNext(sealJson({ version: 1, key, state } satisfies Entry), after),
  };
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
