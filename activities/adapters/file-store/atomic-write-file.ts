import { randomUUID } from 'node:crypto';
import { constants, existsSync, fstatSync, lstatSync } from 'node:fs';
import { chmod, link, open, readdir, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hashBytes } from '../../text/bytes.ts';
import { checkInside, createDirectory, syncDirectory } from './confinement.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Suffix of files that are being written. One that is left over from a crash has no value. */
export const temporarySuffix = '.tmp';

/** Matches the names of such files, as a line of a `.gitignore`. */
export const temporaryPattern = `.${'?'.repeat(8)}-????-????-????-${'?'.repeat(12)}${temporarySuffix}`;

/** Returns the beginning of the names of this file's temporary files, which tells them from those of other files. */
export function leftoverPrefix(path: string): string {
  return `.${hashBytes(basename(path)).slice(0, 8)}`;
}

/** Returns the path of a new temporary file of a file. It is in the same directory, because a rename does not cross file systems. */
export function temporaryPathOf(path: string): string {
  const name = `${leftoverPrefix(path)}${randomUUID().slice(8)}${temporarySuffix}`;
  return join(dirname(path), name);
}

/** Other users of the machine can't read prompts, answers and replies. */
const privateFileMode = 0o600;
const privateFolderMode = 0o700;

export interface AtomicWriteOptions {
  /**
   * The file must be below this directory, and no directory in between may be a symbolic link. If undefined, any place
   * is allowed.
   */
  readonly root?: string | undefined;
  /**
   * Called when everything but the final name is written. Its error is passed on, and nothing has changed: a writer
   * that was delayed by a slow disk or a suspended process may have lost the right to write.
   */
  readonly mayStill?: (() => Promise<void>) | undefined;
  /**
   * Permissions of created files. `private`, the default: only this process's user (0600, folders 0700). `shared`: set
   * by the umask; a replaced file keeps its permissions.
   */
  readonly access?: 'private' | 'shared' | undefined;
  /** Permissions of a `shared` file that replaces none. If undefined, those of the umask. */
  readonly mode?: number | undefined;
  /** Time that the file gets, in Unix epoch milliseconds. If undefined: now. */
  readonly modifiedMs?: number | undefined;
}

interface CreateOptions extends AtomicWriteOptions {
  /**
   * Called when the file was created, with a second name of it, which stays when others remove the first one. Its error is
   * passed on.
   */
  readonly onCreated?: ((secondName: string) => Promise<void>) | undefined;
}

/**
 * Replaces the file at `path` in one step and creates its directory if needed: after a crash or on a full disk, readers
 * see the old file or the new one, whole. When the promise resolves, the new one survives a power cut. A symbolic link
 * at `path` is replaced, never followed.
 *
 * @throws {StoreUnavailable} naming the path, the reason and a cure. The old file is then untouched.
 */
export async function atomicWriteFile(
  path: string,
  bytes: Uint8Array | string,
  options: AtomicWriteOptions = {},
): Promise<void> {
  await writeAside(path, bytes, options, async (temporary) => {
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  });
}

/**
 * Creates the file like `atomicWriteFile`, but never replaces an existing one: of all writers, also in other processes,
 * one succeeds. Needs a file system with hard links.
 *
 * @returns false when `path` already existed.
 * @throws {StoreUnavailable} naming the path, the reason and a cure. Nothing was then created.
 */
export async function atomicCreateFile(
  path: string,
  bytes: Uint8Array | string,
  options: CreateOptions = {},
): Promise<boolean> {
  return writeAside(path, bytes, options, async (temporary) => {
    const isCreated = await createName(temporary, path);
    if (isCreated) await options.onCreated?.(temporary);
    await allDone([syncDirectory(dirname(path)), removeName(temporary)]);
    return isCreated;
  });
}

/** @returns false when the name is taken. */
async function createName(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (getCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the name of a file, which may be gone already. */
export async function removeName(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (getCode(error) !== 'ENOENT') throw error;
  });
}

/** @param settle Gives the complete temporary file its final name, durably, and removes the temporary one. */
async function writeAside<T>(
  path: string,
  bytes: Uint8Array | string,
  { root, mayStill, access = 'private', mode: newMode, modifiedMs }: AtomicWriteOptions,
  settle: (temporary: string) => Promise<T>,
): Promise<T> {
  const dir = dirname(path);
  const temporary = temporaryPathOf(path);
  const cleanUp = () => rm(temporary, { force: true }).catch(() => undefined);
  const inStore = async <R>(work: () => Promise<R>): Promise<R> => {
    try {
      return await work();
    } catch (error) {
      await cleanUp();
      throw toStoreUnavailable('write', path, error);
    }
  };
  await inStore(async () => {
    if (root !== undefined) checkInside(root, path);
    const mode = access === 'private' ? privateFileMode : (modeOf(path) ?? newMode);
    const folderMode = access === 'private' ? privateFolderMode : undefined;
    const holding = existsSync(dir) ? [] : await createDirectory(dir, folderMode);
    const file = await open(temporary, 'wx', mode);
    // Flushes at the same time cost hardly more than one.
    await allDone([...holding.map(syncDirectory), writeAndSync(file, bytes, mode, modifiedMs)]);
  });
  try {
    await mayStill?.();
  } catch (error) {
    await cleanUp();
    throw error;
  }
  return inStore(() => settle(temporary));
}

/** Waits until all have ended, so that none goes on behind a failure. @throws the first error. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}

/** @returns the permissions of the file at `path`; undefined when there is none. */
function modeOf(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.mode & 0o777 : undefined;
}

/** @param mode Permissions of the file; undefined for those of the umask. @param modifiedMs undefined: now. */
async function writeAndSync(
  file: FileHandle,
  bytes: Uint8Array | string,
  mode: number | undefined,
  modifiedMs: number | undefined,
): Promise<void> {
  try {
    // The umask may have removed bits that the replaced file had.
    if (mode !== undefined && (fstatSync(file.fd).mode & 0o777) !== mode) await file.chmod(mode);
    await file.writeFile(bytes);
    if (modifiedMs !== undefined) await file.utimes(modifiedMs / 1_000, modifiedMs / 1_000);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Renames a finished folder, unless another call has put one there. */
export async function putInPlace(made: string, place: string): Promise<void> {
  try {
    await rename(made, place);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(getCode(error) ?? '')) throw error;
  }
}

/** Removes a folder, also one with folders in it that a command has closed. No command may be at work in it. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await remove();
  } catch {
    await openFolders(folder);
    await remove();
  }
}

/** Gives a folder and those in it, which a command may have closed, back to their owner. */
export async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    // oxlint-disable-next-line no-await-in-loop
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

/**
 * Reads the file at `path`; returns null when there is none, or a symbolic link or a directory in its place.
 *
 * @param root The file must be below it, and no directory in between may be a symbolic link.
 * @throws {StoreUnavailable} when it can't be read, or is outside.
 */
export async function readFileInside(root: string, path: string): Promise<Buffer | null> {
  try {
    checkInside(root, path);
  } catch (error) {
    throw toStoreUnavailable('read', path, error);
  }
  return readFileOrNull(path);
}

async function readFileOrNull(path: string): Promise<Buffer | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EISDIR'].includes(getCode(error) ?? '')) return null;
    throw toStoreUnavailable('read', path, error);
  }
}
