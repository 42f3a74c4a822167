import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Ref } from '../../../contracts/ref.ts';
import type { RunIndex } from '../../ports/artifact-store.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';
import { openVersionedFile } from './versioned-file.ts';
import { hashBytes } from '../../text/bytes.ts';

/** Most characters of an encoded name. Common file systems accept file names of 255 bytes. */
const encodedMaxLength = 200;

/** The file contains the name too, because a long one can't be read back from the directory's name. */
const Entry = z.strictObject({ name: z.string(), ref: Ref });

/**
 * Creates an index of named references as versioned files, `<home>/refs/<encoded name>/<version>.json`: of runs, or in
 * `research` of technologies.
 *
 * FI1. Whatever a name contains, its files are in a directory directly in `refs`, whose name has lower-case letters,
 *      digits, "-", "_" and "%".
 * FI2. Two names never share a directory, not even where the file system ignores case or Unicode forms.
 * FI3. A damaged entry reads as one without a reference.
 * FI4. Of all writers after the same version one succeeds, and no writer replaces a version that it has not read.
 */
export function createFileRunIndex(options: {
  readonly home: string;
  readonly folder?: 'refs' | 'research';
}): RunIndex {
  const { home, folder = 'refs' } = options;
  const refs = join(home, folder);
  const readEntry = async (directory: string) => {
    const { text, version } = await openVersionedFile(home, join(refs, directory)).readNewest();
    return { entry: text === null ? null : parseEntry(text), version };
  };
  return {
    write: (name, ref, after) => {
      const text = `${JSON.stringify({ name, ref: Ref.parse(ref) })}\n`;
      return openVersionedFile(home, join(refs, runDirectoryOf(name))).writeNext(text, after);
    },
    read: async (name) => {
      const { entry, version } = await readEntry(runDirectoryOf(name));
      return { ref: entry?.name === name ? entry.ref : null, version };
    },
    list: async () => {
      const names: string[] = [];
      for (const directory of await listDirectories(refs)) {
        const { entry } = await readEntry(directory);
        // A copy under another name is not the entry of its name.
        if (entry !== null && runDirectoryOf(entry.name) === directory) names.push(entry.name);
      }
      // Sorted by code unit, which is the same on every machine.
      return names.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    },
  };
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

/**
 * Returns the name of the directory in `refs`. Encodes by code unit, so that lone surrogates and both forms of "é" stay apart. The prefix keeps names like "con"
 * harmless.
 */
export function runDirectoryOf(name: string): string {
  const encoded = name.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80
      ? `%${code.toString(16).padStart(2, '0')}`
      : `%u${code.toString(16).padStart(4, '0')}`;
  });
  if (encoded.length <= encodedMaxLength) return `n-${encoded}`;
  const hash = hashBytes(Buffer.from(name, 'utf16le'));
  return `h-${hash}`;
}
