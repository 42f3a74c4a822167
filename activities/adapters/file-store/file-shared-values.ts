import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../core/json.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { sharedCure, sortListed, type SharedValues } from '../../ports/shared-values.ts';
import { hashBytes } from '../../text/bytes.ts';
import { openSealed, sealJson, openVersionedFile } from './versioned-file.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Creates values as versioned files, `<home>/shared/<hash of the name>/<version>.json`, sealed JSON `{name, value}`. */
export function createFileSharedValues({ home }: { readonly home: string }): SharedValues {
  const root = join(home, 'shared');
  const fileOf = (key: string) => openVersionedFile(home, join(root, key));
  return {
    read: async (name) => {
      const key = hashBytes(name);
      const { text, version } = await fileOf(key).readNewest();
      return { value: openShared(text, version, join(root, key)), version };
    },
    replace: (name, value, after) =>
      fileOf(hashBytes(name)).writeNext(sealShared(name, value), after),
    list: async () => {
      const keys = await listSharedKeys(root);
      const entries = await Promise.all(
        keys.map(async (key) => ({ key, newest: await fileOf(key).readNewest() })),
      );
      return sortListed(
        entries
          .filter(({ newest }) => newest.version > 0)
          .map(({ key, newest }) => ({
            name: readShared(newest.text)?.name ?? null,
            place: join(root, key),
          })),
      );
    },
  };
}

/** Lists the folders of values. @param root `<home>/shared`. @throws {StoreUnavailable} */
export async function listSharedKeys(root: string): Promise<readonly string[]> {
  const keys = await readdir(root).catch((error: unknown) => {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', root, error);
  });
  return keys.filter((key) => /^[0-9a-f]{64}$/.test(key));
}

export function sealShared(name: string, value: unknown): string {
  return sealJson({ name, value });
}

/** @returns null for a damaged value. */
export function readShared(
  text: string | null,
): { readonly name: string; readonly value: unknown } | null {
  const entry = text === null ? undefined : openSealed(text);
  if (!isRecord(entry) || !('name' in entry) || !('value' in entry)) return null;
  return { name: String(entry['name']), value: entry['value'] };
}

/** @throws {StoreUnavailable} for a damaged value: to begin anew would forget what was spent. */
export function openShared(text: string | null, version: number, place: string): unknown {
  if (version === 0) return undefined;
  const entry = readShared(text);
  if (entry !== null) return entry.value;
  const message = `The shared value at ${place} is damaged. Try: ${sharedCure}`;
  throw new StoreUnavailable(message, { path: place, code: null });
}
