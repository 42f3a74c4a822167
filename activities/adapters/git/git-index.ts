import { randomUUID } from 'node:crypto';
import { copyFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { getCode } from '../file-store/store-errors.ts';
import type { GitPlace } from './run-git.ts';

/**
 * Works on a copy of the index and puts it back at the end. A call that was killed leaves no lock behind, and two calls
 * at once don't disturb each other.
 */
export async function withIndex<T>(
  { gitDir, workTree, indexFile }: Required<GitPlace>,
  work: (place: Required<GitPlace>) => Promise<T>,
): Promise<T> {
  const copy = `${indexFile}.${randomUUID()}`;
  try {
    await copyIndex(indexFile, copy);
    const result = await work({ gitDir, workTree, indexFile: copy });
    await rename(copy, indexFile);
    return result;
  } finally {
    await rm(copy, { force: true });
    await rm(`${copy}.lock`, { force: true });
  }
}

/**
 * Copies an index with its time. Git compares the content of a file that is as young as the index, and a younger copy
 * would hide the changes of the same second.
 */
async function copyIndex(indexFile: string, copy: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(indexFile);
    await copyFile(indexFile, copy);
    const seconds = Math.floor(mtimeMs / 1_000);
    await utimes(copy, seconds, seconds);
  } catch (error) {
    // Git makes it.
    if (getCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * Gives the index the time up to which its files were compared. Git compares the content of every file that is as young as the
 * index, and after a checkout all of them are.
 */
export async function markCompared(indexFile: string, seconds: number): Promise<void> {
  const found = await stat(indexFile).catch(() => null);
  if (found !== null && found.mtimeMs < seconds * 1_000) await utimes(indexFile, seconds, seconds);
}
