import { closeSync, fsync, lstatSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { getCode } from './store-errors.ts';

const flush = promisify(fsync);

/**
 * Refuses a path that is not below `root`, by its spelling or through a symbolic link on its way. `root` itself may be
 * a link: its owner decides where it leads. The last part of the path is not checked: files are replaced by rename,
 * which replaces a link instead of following it, and read without following links.
 *
 * @throws {StoreUnavailable} with code `ELOOP` for a link, null for a path outside.
 */
export function checkInside(root: string, path: string): void {
  const inside = relative(resolve(root), resolve(path));
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new StoreUnavailable(`"${path}" is outside "${root}" and is not touched.`, {
      path,
      code: null,
    });
  }
  const parts = inside.split(sep).slice(0, -1);
  const folders = parts.map((_part, at) => join(resolve(root), ...parts.slice(0, at + 1)));
  const link = folders.find(isSymbolicLink);
  if (link === undefined) return;
  throw new StoreUnavailable(
    `"${link}" is a symbolic link and may lead outside "${root}". Try: replace it by a directory.`,
    { path: link, code: 'ELOOP' },
  );
}

/**
 * Creates `dir` and its missing parents, so that they survive a power cut.
 *
 * @param mode Permissions of the created folders; undefined for those of the umask.
 */
export async function makeDirectory(dir: string, mode: number | undefined): Promise<void> {
  await Promise.all((await createDirectory(dir, mode)).map(syncDirectory));
}

/**
 * Creates `dir` and its missing parents.
 *
 * @returns the folders that hold a new name. `syncDirectory` makes it survive a power cut.
 */
export async function createDirectory(dir: string, mode: number | undefined): Promise<string[]> {
  const first = await mkdir(dir, { recursive: true, mode }).catch((error: unknown) =>
    getCode(error) === 'ENOENT' ? makeSingly(resolve(dir), mode) : Promise.reject(error),
  );
  if (first === undefined) return [];
  const top = dirname(resolve(first));
  const holding = [];
  for (let at = resolve(dir); at !== top;) {
    at = dirname(at);
    holding.push(at);
  }
  return holding;
}

/**
 * Creates directories one by one, because only then Node tells a read-only file system from a missing directory.
 *
 * @returns the first directory that was created.
 */
async function makeSingly(dir: string, mode: number | undefined): Promise<string> {
  try {
    await mkdir(dir, { mode });
    return dir;
  } catch (error) {
    if (getCode(error) !== 'ENOENT' || dirname(dir) === dir) throw error;
    const first = await makeSingly(dirname(dir), mode);
    await mkdir(dir, { mode });
    return first;
  }
}

/** Makes created, renamed and removed names in `dir` survive a power cut. */
export async function syncDirectory(dir: string): Promise<void> {
  let fd;
  try {
    fd = openSync(dir, 'r');
  } catch (error) {
    // Windows can't do this; its rename is journalled.
    if (process.platform === 'win32' && ['EPERM', 'EISDIR'].includes(getCode(error) ?? '')) return;
    throw error;
  }
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

function isSymbolicLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
