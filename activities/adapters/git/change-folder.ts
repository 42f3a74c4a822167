import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '../../../contracts/effect.ts';
import { getCode } from '../file-store/store-errors.ts';
import { withIndex } from './git-index.ts';
import { listChangedFiles } from './diff-commits.ts';
import type { TrackedFolder } from './git-snapshots.ts';
import { runGit, splitNul } from './run-git.ts';

/**
 * Changes the folder from one tree to another, and only where they differ.
 *
 * @param from tree that `storeFolder` has just returned.
 * @returns what stands in the way and is in no tree. If there is any, nothing is changed.
 * @throws {GitFailed} when the folder has changed since; nothing is changed then.
 */
export async function changeFolder(
  folder: TrackedFolder,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const inTheWay = await findInTheWay(folder, from, to);
  if (inTheWay.length === 0) {
    await withIndex(folder, (place) => runGit(place, ['read-tree', '-m', '-u', from, to]));
  }
  return inTheWay;
}

/** Lists what git would overwrite or remove on the way from one tree to another: it spares nothing that a `.gitignore` names. */
export async function findInTheWay(
  folder: TrackedFolder,
  from: string,
  to: string,
): Promise<string[]> {
  const files = await listChangedFiles(folder.gitDir, from, to);
  const pathsOf = (kind: FileChange['change']): string[] =>
    files.flatMap(({ change, path }) => (change === kind ? path : []));
  const [added, deleted] = [pathsOf('added'), pathsOf('deleted')];
  const leftFolders = new Set(deleted.flatMap(foldersOf));
  const emptied = added.filter((path) => leftFolders.has(path));
  const others = added.filter((path) => !leftFolders.has(path) && !isBelow(path, deleted));
  const taken = await Promise.all(others.map((path) => isTaken(join(folder.workTree, path))));
  const inTheWay = others.filter((_path, at) => taken[at]);
  if (emptied.length === 0) return inTheWay;
  const lost = deleted.filter((path) => isBelow(path, emptied));
  const repositories = await listRepositories(folder.workTree, lost);
  const untracked = await listUntracked(folder);
  return [...inTheWay, ...[...untracked, ...repositories].filter((path) => isBelow(path, emptied))];
}

function isBelow(path: string, others: readonly string[]): boolean {
  return others.some((one) => path.startsWith(`${one}/`));
}

/** Lists the folders above a file, from the outermost one. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_part, at) => parts.slice(0, at + 1).join('/'));
}

function isTaken(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => getCode(error) !== 'ENOENT',
  );
}

/** Lists what is in the folder and not in its index, ignored or not: a folder without any file of the index by its name and a slash. */
async function listUntracked(folder: TrackedFolder): Promise<string[]> {
  const args = ['ls-files', '--others', '--directory', '--no-empty-directory', '-z'];
  return splitNul((await runGit(folder, args)).output);
}

/** Lists the repositories of the user's own in the folders of files. Git never names what is in them. */
async function listRepositories(workTree: string, files: readonly string[]): Promise<string[]> {
  const places = [...new Set(files.flatMap(foldersOf))].map((path) => `${path}/.git`);
  const found = await Promise.all(places.map((path) => isTaken(join(workTree, path))));
  return places.filter((_path, at) => found[at]);
}
