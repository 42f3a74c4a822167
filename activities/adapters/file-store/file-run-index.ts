import { createHash } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Ref } from '../../../contracts/ref.ts';
import type { RunIndex } from '../../ports/artifact-store.ts';
import { atomicCreateFile, readFileInside } from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** The longest file name that every common file system takes is 255 bytes. */
const encodedMaxLength = 200;

/** The name stands in the file too, because a long one can't be read back from the directory's. */
const Entry = z.strictObject({ name: z.string(), ref: Ref });

/** No entry is written nearly as often; it keeps numbers exact. */
const versionFile = /^([1-9]\d{0,14})\.json$/;

/**
 * Named references as files, `<home>/refs/<encoded name>/<version>.json`, of which the highest version counts. A version
 * is created and never changed, so that a writer who was suspended finds its own taken, or the highest beyond it.
 *
 * FI1. Whatever a name holds, its files are in a directory directly in `refs`, whose name has lower-case letters, digits,
 *      "-", "_" and "%".
 * FI2. Two names never share a directory, not even where the file system ignores case or Unicode forms.
 * FI3. A damaged entry reads as one that points nowhere.
 * FI4. Of all who write after the same version, one has its way, and nobody replaces a version they have not read.
 */
export function createFileRunIndex(options: { readonly home: string }): RunIndex {
  const { home } = options;
  const refs = join(home, 'refs');
  const toDirectory = (name: string): string => join(refs, toDirectoryName(name));
  return {
    write: async (name, ref, after) => {
      const dir = toDirectory(name);
      const version = after + 1;
      const text = `${JSON.stringify({ name, ref: Ref.parse(ref) })}\n`;
      const path = toPath(dir, version);
      if (!(await atomicCreateFile(path, text, { root: home }))) return false;
      const versions = await listVersions(home, dir);
      // Below the highest it counts for nothing, and neither do the older ones.
      await Promise.all(
        versions.slice(0, -1).map((older) => rm(toPath(dir, older), { force: true })),
      ).catch((error: unknown) => {
        throw toStoreUnavailable('write', dir, error);
      });
      return versions.at(-1) === version;
    },
    read: async (name) => {
      const { entry, version } = await readNewest(home, toDirectory(name));
      return { ref: entry?.name === name ? entry.ref : null, version };
    },
    list: async () => {
      const names: string[] = [];
      for (const directory of await listDirectories(refs)) {
        const { entry } = await readNewest(home, join(refs, directory));
        // A copy under another name is not the entry of its name.
        if (entry !== null && toDirectoryName(entry.name) === directory) names.push(entry.name);
      }
      // By code unit, which does not depend on where planwave runs.
      return names.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    },
  };
}

function toPath(dir: string, version: number): string {
  return join(dir, `${version}.json`);
}

async function readNewest(
  home: string,
  dir: string,
): Promise<{ readonly entry: z.infer<typeof Entry> | null; readonly version: number }> {
  for (;;) {
    const version = (await listVersions(home, dir)).at(-1) ?? 0;
    if (version === 0) return { entry: null, version };
    const bytes = await readFileInside(home, toPath(dir, version));
    if (bytes !== null) return { entry: parseEntry(bytes.toString('utf8')), version };
    // Replaced since it was listed, or no file at all.
    const isNewest = (await listVersions(home, dir)).at(-1) === version;
    if (isNewest) return { entry: null, version };
  }
}

/** The versions of an entry, the highest last. */
async function listVersions(home: string, dir: string): Promise<number[]> {
  try {
    await checkInside(home, join(dir, 'version'));
    const versions = (await readdir(dir)).flatMap((file) => versionFile.exec(file)?.[1] ?? []);
    return versions.map(Number).toSorted((a, b) => a - b);
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', dir, error);
  }
}

async function listDirectories(refs: string): Promise<string[]> {
  try {
    if ((await lstat(refs)).isSymbolicLink()) return [];
    const found = await readdir(refs, { withFileTypes: true });
    return found.flatMap((one) => (one.isDirectory() && /^[nh]-/.test(one.name) ? one.name : []));
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', refs, error);
  }
}

function parseEntry(text: string): z.infer<typeof Entry> | null {
  try {
    return Entry.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** By code unit, so that lone surrogates and both forms of "é" stay apart. The prefix keeps names like "con" harmless. */
function toDirectoryName(name: string): string {
  const encoded = name.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80
      ? `%${code.toString(16).padStart(2, '0')}`
      : `%u${code.toString(16).padStart(4, '0')}`;
  });
  if (encoded.length <= encodedMaxLength) return `n-${encoded}`;
  const hash = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');
  return `h-${hash}`;
}
