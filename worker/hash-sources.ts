import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * SHA-256 of the names and contents of code and agent files, in hexadecimal. Takes milliseconds, and is the same for
 * equal sources wherever the checkout lies.
 *
 * @param folders below the root; each is read with all folders in it
 * @param file one more, which says which packages there are
 */
export async function hashSources(folders: readonly string[], file: string): Promise<string> {
  const perFolder = await Promise.all(folders.map(listSources));
  const hash = createHash('sha256');
  for (const path of [file, ...perFolder.flat()].toSorted()) {
    hash.update(`${path}\0`).update(await readFile(join(root, path)));
  }
  return hash.digest('hex');
}

async function listSources(folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => /\.(?:[jt]s|md)$/.test(name)).map((name) => join(folder, name));
}
