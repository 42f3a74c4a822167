import { readdirSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Reads every file below `dir`, by path. Files that vanish meanwhile, as those that are being written, are left out. */
export async function readTree(dir: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map(async (file) => {
      const path = join(file.parentPath, file.name);
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      return text === null ? [] : [[relative(dir, path), text] as const];
    }),
  );
  return Object.fromEntries(texts.flat().toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Counts the bytes of all files of a folder. Files that vanish meanwhile count nothing. */
export function countBytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, path) => {
    const found = statSync(join(folder, path), { throwIfNoEntry: false });
    return sum + (found?.isFile() === true ? found.size : 0);
  }, 0);
}
