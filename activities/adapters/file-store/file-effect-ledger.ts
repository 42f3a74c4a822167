import { join } from 'node:path';
import type { EffectState } from '../../../core/effects/step-effect.ts';
import { damagedEntry } from '../../ports/effect-ledger.ts';
import type { EffectLedger } from '../../ports/effect-ledger.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { openSealed, sealJson } from './sealed-json.ts';

/** The versions of an entry's shape, newest last. An entry of another one counts as damaged: nobody acts on it. */
const entryVersions: readonly unknown[] = [1];

interface Entry {
  readonly version: 1;
  readonly key: string;
  readonly state: EffectState;
}

/**
 * Effects as files, `<home>/effects/ab/<rest of the key>`, sealed JSON `{version, key, state}`.
 *
 * FE1. An entry that is torn, damaged, of another key or of a version not known here is not taken for a missing one.
 */
export function createFileEffectLedger(options: { readonly home: string }): EffectLedger {
  const toPath = (key: string): string => {
    if (!/^[0-9a-f]{64}$/.test(key)) throw new Error(`"${key}" is no key of an effect.`);
    return join(options.home, 'effects', key.slice(0, 2), key.slice(2));
  };
  return {
    find: async (key) => {
      const bytes = await readFileInside(options.home, toPath(key));
      if (bytes === null) return null;
      const entry = openSealed(bytes.toString('utf8'));
      return isEntry(entry) && entry.key === key ? entry.state : damagedEntry;
    },
    put: (key, state) =>
      atomicWriteFile(toPath(key), sealJson({ version: 1, key, state } satisfies Entry), {
        root: options.home,
      }),
  };
}

/** Nobody but us writes one, and its seal proves that it is unchanged. */
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
