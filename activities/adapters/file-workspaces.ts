import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, realpath, stat } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { checkWorkspacePath, foldFileName } from '../../core/effects/check-workspace-path.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { WorkspaceRefused } from '../ports/workspaces.ts';
import type { FileState, WorkspacePlace, Workspaces } from '../ports/workspaces.ts';
import type { Worktrees } from '../ports/worktrees.ts';
import { toRunDirectory, treePaths } from '../projection/paths.ts';
import { atomicWriteFile } from './file-store/atomic-write-file.ts';
import { getCode } from './file-store/store-errors.ts';

/** Resolved file of one call. */
interface Target {
  /** No folder between this one and the file may be a link. */
  readonly root: string;
  /** Names from `root` to the file. */
  readonly parts: readonly string[];
  /** The path as the model wrote it. */
  readonly shown: string;
}

/**
 * Creates workspaces as folders: the one that a run's input names, or a delegation's copy of it when it is a git
 * repository, or `<home>/<run directory>/workspace`.
 *
 * FW1. Nothing outside the workspace is read or written: not by `..`, an absolute path, a link, or a name that another
 *      system reads differently.
 * FW2. A name that differs from an existing one only in case or Unicode form is refused: on another file system the two
 *      are one file.
 * FW3. Agents can't reach the engine's own files, even in a workspace that contains the artifact home.
 * FW4. A reader sees an old file or a new one, whole; a failed write changes nothing.
 */
export function createFileWorkspaces(options: {
  readonly home: string;
  /** Copies of workspaces that are git repositories. If absent, each workspace is used directly. */
  readonly worktrees?: Pick<Worktrees, 'open'>;
}): Workspaces {
  const home = resolve(options.home);
  const locate = async (place: WorkspacePlace, path: string): Promise<Target> => {
    const checked = checkWorkspacePath(path);
    if (!checked.ok) throw new WorkspaceRefused(checked.reason);
    const own = place.dir === null;
    const copy = (await options.worktrees?.open(place)) ?? null;
    const root = copy ?? (own ? home : resolve(place.dir));
    const before = own ? [toRunDirectory(place.run_id), treePaths.workspace] : [];
    const target = { root, parts: [...before, ...checked.parts], shown: path };
    await checkOnTheWay(target);
    if (!own && copy === null) await checkOutsideHome(home, target);
    return target;
  };
  return {
    folderOf: async (place) => {
      const own = join(home, toRunDirectory(place.run_id), treePaths.workspace);
      const folder = (await options.worktrees?.open(place)) ?? resolve(place.dir ?? own);
      await mkdir(folder, { recursive: true });
      return folder;
    },
    findFault: (dir) => findFolderFault(home, dir),
    look: async (place, path) => readState(await locate(place, path)),
    write: async (place, path, text, mayStill) => {
      const { root, parts, shown } = await locate(place, path);
      const bytes = Buffer.from(text, 'utf8');
      try {
        await atomicWriteFile(join(root, ...parts), bytes, { root, mayStill, access: 'shared' });
      } catch (error) {
        throw error instanceof StoreUnavailable ? refuse(shown, 'written', error) : error;
      }
      return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.byteLength };
    },
  };
}

async function findFolderFault(home: string, dir: string): Promise<string | null> {
  const shown = JSON.stringify(dir);
  if (!isAbsolute(dir)) {
    return `${shown} is not absolute. Try: the whole path, as the worker sees it`;
  }
  try {
    if (!(await stat(dir)).isDirectory()) return `${shown} is no folder. Try: a folder that exists`;
    await access(dir, constants.W_OK);
  } catch (error) {
    return `${shown} can't be written (${getCode(error) ?? 'unknown fault'}). Try: a folder that exists where the worker runs and that it may write`;
  }
  return isBelow(await realOf(home), await realOf(dir))
    ? `${shown} belongs to planwave's own files. Try: a folder elsewhere, or leave it out`
    : null;
}

/** Checks each existing part of the path, from the top down. */
async function checkOnTheWay({ root, parts, shown }: Target): Promise<void> {
  let folder = root;
  for (const [index, part] of parts.entries()) {
    const entries = await listFolder(folder, shown);
    const there = entries.find(({ name }) => name === part);
    const fold = foldFileName(part);
    const twin = entries.find(({ name }) => name !== part && foldFileName(name) === fold);
    if (twin !== undefined) {
      throw new WorkspaceRefused(
        `${JSON.stringify(shown)} can't be used: ${JSON.stringify(twin.name)} is there already, and some systems take the two for one. Try: that name, or another one.`,
      );
    }
    if (there === undefined) return;
    const isLast = index === parts.length - 1;
    if (isLast ? there.isFile() : there.isDirectory()) folder = join(folder, part);
    else {
      const expected = isLast ? 'a file' : 'a folder';
      throw new WorkspaceRefused(
        `${JSON.stringify(shown)} can't be used: ${JSON.stringify(part)} is not ${expected} but something else. Try: another path.`,
      );
    }
  }
}

async function listFolder(folder: string, shown: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw refuse(shown, 'looked up', error);
  }
}

async function checkOutsideHome(home: string, { root, parts, shown }: Target): Promise<void> {
  const path = join(await realOf(root), ...parts);
  if (!isBelow(await realOf(home), path)) return;
  throw new WorkspaceRefused(
    `${JSON.stringify(shown)} belongs to planwave's own files. Try: another folder of the workspace.`,
  );
}

async function readState({ root, parts, shown }: Target): Promise<FileState | null> {
  try {
    const noFollow = constants.O_NOFOLLOW ?? 0;
    const handle = await open(join(root, ...parts), constants.O_RDONLY | noFollow);
    // The stream closes the handle. A file from another source may be large.
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of handle.createReadStream()) {
      const block: Buffer = chunk;
      hash.update(block);
      bytes += block.byteLength;
    }
    return { sha256: hash.digest('hex'), bytes };
  } catch (error) {
    if (getCode(error) === 'ENOENT') return null;
    throw refuse(shown, 'read', error);
  }
}

/** Resolves links. A folder that does not exist yet keeps its path. */
function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path);
  return (
    inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
  );
}

function refuse(shown: string, doing: string, error: unknown): WorkspaceRefused {
  const code = error instanceof StoreUnavailable ? error.code : getCode(error);
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} can't be ${doing} (${code ?? 'unknown fault'}). Try: another path, or report what could not be done.`,
  );
}
