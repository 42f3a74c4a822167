import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../core/is-record.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import type { SharedValues } from '../../ports/shared-values.ts';
import { hashBytes } from '../../text/bytes.ts';
import { openSealed, sealJson, openVersionedFile } from './versioned-file.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Creates values as versioned files, `<home>/shared/<hash of the name>/<version>.json`, sealed JSON `{name, value}`. */
export function createFileSharedValues({ home }: { readonly home: string }): SharedValues {
  const root = join(home, 'shared');
  const fileOf = (key: string) => openVersionedFile(home, join(root, key));
  const read = async (key: string) => {
    const { text, version } = await fileOf(key).readNewest();
    return { ...openShared(text, version, join(root, key)), version };
  };
  return {
    read: async (name) => {
      const { value, version } = await read(hashBytes(name));
      return { value, version };
    },
    replace: (name, value, after) =>
      fileOf(hashBytes(name)).writeNext(sealShared(name, value), after),
    list: async () => {
      const keys = await readdir(root).catch((error: unknown) => {
        if (getCode(error) === 'ENOENT') return [];
        throw toStoreUnavailable('read', root, error);
      });
      const entries = await Promise.all(keys.filter((key) => /^[0-9a-f]{64}$/.test(key)).map(read));
      return entries.flatMap(({ name }) => name ?? []).toSorted();
    },
  };
}

export function sealShared(name: string, value: unknown): string {
  return sealJson({ name, value });
}

/** @throws {StoreUnavailable} for a damaged value: to begin anew would forget what was spent. */
export function openShared(
  text: string | null,
  version: number,
  place: string,
): { readonly name?: string; readonly value: unknown } {
  if (version === 0) return { value: undefined };
  const entry = text === null ? undefined : openSealed(text);
  if (isRecord(entry) && 'name' in entry && 'value' in entry) {
    return { name: String(entry['name']), value: entry['value'] };
  }
  throw new StoreUnavailable(
    `The shared value at ${place} is damaged. Try: restore it from a backup, or remove it and set the budget again`,
    { path: place, code: null },
  );
}
