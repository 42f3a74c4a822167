import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Ref } from '../../../contracts/ref.ts';
import type { RunIndex } from '../../ports/artifact-store.ts';
import { atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** The longest file name that every common file system takes is 255 bytes. */
const encodedMaxLength = 200;

/** The name stands in the file too, because a long one can't be read back from the file's name. */
const Entry = z.strictObject({ name: z.string(), ref: Ref });

/**
 * Named references as files, `<home>/refs/<encoded name>.json`.
 *
 * FI1. Whatever a name holds, its file is directly in `refs`: a file name has lower-case letters, digits, "-", "_" and "%".
 * FI2. Two names never share a file, not even where the file system ignores case or Unicode forms.
 * FI3. A damaged entry reads as one that was never written.
 */
export function createFileRunIndex(options: { readonly home: string }): RunIndex {
  const refs = join(options.home, 'refs');
  const toPath = (name: string): string => join(refs, toFileName(name));
  const readEntry = async (path: string) => {
    const bytes = await readFileInside(options.home, path);
    return bytes === null ? null : parseEntry(bytes.toString('utf8'));
  };
  return {
    write: (name, ref) =>
      atomicWriteFile(toPath(name), `${JSON.stringify({ name, ref: Ref.parse(ref) })}\n`, {
        root: options.home,
      }),
    read: async (name) => {
      const entry = await readEntry(toPath(name));
      return entry?.name === name ? entry.ref : null;
    },
    list: async () => {
      const files = await listEntryFiles(refs);
      const names: string[] = [];
      for (const file of files) {
        const entry = await readEntry(join(refs, file));
        // A copy under another file name is not the entry of its name.
        if (entry !== null && toFileName(entry.name) === file) names.push(entry.name);
      }
      // By code unit, which does not depend on where planwave runs.
      return names.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
    },
  };
}

async function listEntryFiles(refs: string): Promise<string[]> {
  try {
    if ((await lstat(refs)).isSymbolicLink()) return [];
    return (await readdir(refs)).filter((file) => /^[nh]-.*\.json$/.test(file));
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
function toFileName(name: string): string {
  const encoded = name.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80
      ? `%${code.toString(16).padStart(2, '0')}`
      : `%u${code.toString(16).padStart(4, '0')}`;
  });
  if (encoded.length <= encodedMaxLength) return `n-${encoded}.json`;
  const hash = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex');
  return `h-${hash}.json`;
}
