import { realpath, access, opendir, stat, mkdir } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep, join } from 'node:path';
import { closeSync, constants, readdirSync, realpathSync, type Dirent } from 'node:fs';
import { engineLimits } from '../../../core/limits.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { WorkspaceRefused } from '../../ports/workspaces.ts';
import { getCode } from '../file-store/store-errors.ts';
import { syncDirectory } from '../file-store/confinement.ts';
import { NoFile, openFileAt, openFolderAt, type OpenFile } from './open-file.ts';

/** Tells whether a path, with its links resolved, is one of the folders or below one. */
export async function isAllowed(roots: readonly string[], path: string): Promise<boolean> {
  const real = await realOf(path);
  const reals = await Promise.all(roots.map(realOf));
  return reals.some((root) => isBelow(root, real));
}

/** Resolves links. A folder that does not exist yet keeps its path. */
export function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

export function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return (
    inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
  );
}

/** Converts an error of the system to words for a model, without a path of the machine. */
export function toRefusal(shown: string, doing: string, error: unknown): WorkspaceRefused {
  if (error instanceof WorkspaceRefused) return error;
  const path = JSON.stringify(shown);
  if (error instanceof NoFile) {
    return new WorkspaceRefused(
      `${path} is not a file but something else, such as a link. Try: another path.`,
    );
  }
  const code = error instanceof StoreUnavailable ? error.code : getCode(error);
  if (code === 'ENOENT') return new WorkspaceRefused(`There is no ${path}. Try: list_files.`);
  const [reason, cure] =
    code === 'ENOTDIR'
      ? [': a part of it is not a folder but something else, such as a link', '']
      : [` (${code ?? 'unknown fault'})`, ', or report what could not be done'];
  return new WorkspaceRefused(`${path} can't be ${doing}${reason}. Try: another path${cure}.`);
}

export function refuseOwn(shown: string): WorkspaceRefused {
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} belongs to planwave's own files. Try: another folder of the workspace.`,
  );
}

/** Returns why a folder that an input names can't be used, with a cure, or null. @param isCopied False when agents work in the folder itself. */
export async function findFolderFault(
  home: string,
  roots: readonly string[] | null,
  dir: string,
  isCopied: boolean,
): Promise<string | null> {
  const shown = JSON.stringify(dir);
  if (!isAbsolute(dir)) {
    return `${shown} is not absolute. Try: the whole path, as the worker sees it`;
  }
  // Said first, so that a refused folder tells nothing about the machine.
  if (roots !== null && !(await isAllowed(roots, dir))) {
    return `${shown} is in none of the worker's folders (${roots.join(', ')}). Try: a folder there, or PLANWAVE_WORKSPACES on the worker`;
  }
  try {
    if (!(await stat(dir)).isDirectory()) return `${shown} is no folder. Try: a folder that exists`;
    await access(dir, constants.W_OK);
  } catch (error) {
    return `${shown} can't be written (${getCode(error) ?? 'unknown fault'}). Try: a folder that exists where the worker runs and that it may write`;
  }
  if (isBelow(await realOf(home), await realOf(dir))) {
    return `${shown} belongs to planwave's own files. Try: a folder elsewhere, or leave it out`;
  }
  return isCopied ? findCopyFault(dir) : null;
}

/** Folders that no copy has. */
const left = new Set(['.git', 'node_modules', '.venv', '.planning']);

/** Returns why a folder can't be copied for each delegation, or null. A git repository has the size that its owner gave it. */
async function findCopyFault(dir: string): Promise<string | null> {
  if ((await stat(join(dir, '.git')).catch(() => null)) !== null) return null;
  const { copiedFilesMax } = engineLimits;
  const waiting = [dir];
  const repositories: string[] = [];
  let files = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    // A folder that can't be read is left out of the copies.
    // oxlint-disable-next-line no-await-in-loop
    const folder = await opendir(next).catch(() => null);
    if (folder === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    for await (const entry of folder) {
      if (entry.name === '.git' && entry.isDirectory()) repositories.push(relative(dir, next));
      if (left.has(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else files += 1;
      if (files > copiedFilesMax) {
        return `${JSON.stringify(dir)} has more than ${copiedFilesMax} files, and each delegation would get a copy. Try: a smaller folder, git init with a .gitignore, or "changes": "direct"`;
      }
    }
  }
  // Git copies no files of a repository in a folder. A submodule has a file of that name.
  if (repositories.length === 0) return null;
  return `${JSON.stringify(dir)} is no git repository and holds some, whose files no copy would have: ${listNames(repositories.toSorted())}. Try: one of them, git init in the folder for a run on its other files, or "changes": "direct"`;
}

/**
 * Folder that stays open while files below it are used.
 *
 * OF1. No name is followed if it is a link, at any level, even one that replaces a folder during the access: on Linux
 *      each name is opened below the open folder (`/proc/self/fd/<n>/<name>`, which is openat), elsewhere the real path
 *      is compared after opening.
 * OF2. Only regular files are opened, and opening never waits: not for the writer of a FIFO either.
 */
export interface OpenFolder {
  /** Path that leads to this very folder while it is open. */
  readonly path: string;
  /** Path of the folder without links, for comparisons. */
  readonly real: string;
  /**
   * Opens a folder in this one. The caller closes it.
   *
   * @param create True to create it if it is missing.
   * @throws an error with the system's code: ENOENT, or ENOTDIR for a link or anything else that is no folder.
   */
  enter(name: string, create?: boolean): Promise<OpenFolder>;
  /**
   * Opens a file for reading. The caller closes it. Null when there is none.
   *
   * @throws {NoFile} for a link and anything else that is no regular file.
   */
  openFile(name: string): OpenFile | null;
  entries(): readonly Dirent[];
  close(): void;
}

/** Opens the folder at which all access begins. Its path may lead through links: its owner named it. */
export function openRoot(path: string): OpenFolder {
  const real = realpathSync.native(path);
  return wrap(openFolderAt(real, real), real);
}

export interface DescentOptions {
  /** True to create missing folders. */
  readonly create?: boolean;
  /** Called in each folder on the way, before the next one is entered. Its error ends the descent. */
  readonly onWay?: (folder: OpenFolder, next: string, depth: number) => Promise<void> | void;
}

/** Opens a folder below the folder at `root`, one name after the other. The caller closes it. */
export async function descend(
  root: string,
  names: readonly string[],
  { create = false, onWay }: DescentOptions = {},
): Promise<OpenFolder> {
  let folder = openRoot(root);
  for (const [depth, name] of names.entries()) {
    const current = folder;
    // Each folder is opened in the one before it.
    // oxlint-disable-next-line no-await-in-loop
    folder = await closing(current, async () => {
      await onWay?.(current, name, depth);
      return current.enter(name, create);
    });
  }
  return folder;
}

/** Runs `work` with an open folder or file, then closes it, whatever happened. */
export async function closing<O extends { close(): void }, T>(
  open: O,
  work: (open: O) => Promise<T>,
): Promise<T> {
  try {
    return await work(open);
  } finally {
    open.close();
  }
}

function wrap(fd: number, real: string): OpenFolder {
  const path = process.platform === 'linux' ? `/proc/self/fd/${fd}` : real;
  return {
    path,
    real,
    async enter(name, create = false) {
      const [inside, realInside] = [join(path, name), join(real, name)];
      try {
        return wrap(openFolderAt(inside, realInside), realInside);
      } catch (error) {
        if (!create || getCode(error) !== 'ENOENT') throw error;
      }
      if (await makeFolder(inside)) await syncDirectory(path);
      return wrap(openFolderAt(inside, realInside), realInside);
    },
    openFile: (name) => openFileAt(join(path, name), join(real, name)),
    entries: () => readdirSync(path, { withFileTypes: true }),
    close: () => closeSync(fd),
  };
}

/** @returns false when it is there already. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (getCode(error) === 'EEXIST') return false;
    throw error;
  }
}
