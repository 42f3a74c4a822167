import { readdir } from 'node:fs/promises';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { messageOf } from '../../../core/text/message-of.ts';

const elsewhere = 'or point PLANWAVE_HOME at another directory and restart the worker';

/** Reasons and cures for an operating system's error codes on a directory of planwave. */
const explanations = new Map<string, readonly [reason: string, cure: string]>([
  ['ENOSPC', ['the disk is full', `free some space, ${elsewhere}`]],
  ['EDQUOT', ['the disk quota is used up', `free some space, ${elsewhere}`]],
  ['EFBIG', ['the file is larger than the system allows', `raise the limit, ${elsewhere}`]],
  ['EROFS', ['the file system is read-only', `mount it writable, ${elsewhere}`]],
  ['EACCES', ['permission is denied', `give the worker's user access, ${elsewhere}`]],
  [
    'EPERM',
    [
      'the system does not permit it, or the file system has no hard links',
      `give the worker's user access, ${elsewhere}`,
    ],
  ],
  ['ENOENT', ['the directory does not exist', `create or mount it, ${elsewhere}`]],
  [
    'ENOTDIR',
    ['a part of the path is a file, not a directory', `move that file away, ${elsewhere}`],
  ],
  ['EISDIR', ['a directory stands where a file belongs', 'move that directory away']],
  ['ELOOP', ['a symbolic link stands where a file or directory belongs', 'remove the link']],
  ['ENAMETOOLONG', ['the path is too long', 'point PLANWAVE_HOME at a shorter path']],
  ['EMFILE', ['too many files are open', 'raise the limit of open files (ulimit -n)']],
  ['ENFILE', ['too many files are open', 'raise the limit of open files of the machine']],
  ['EIO', ['the disk reports a fault', `check the disk, ${elsewhere}`]],
]);

/** Converts the error of a file operation on `path` to a store error. */
export function toStoreUnavailable(
  doing: 'read' | 'write',
  path: string,
  error: unknown,
): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const code = getCode(error);
  const [reason, cure] = explainCode(code) ?? [messageOf(error), `check the path, ${elsewhere}`];
  return new StoreUnavailable(
    `Can't ${doing} "${path}": ${reason}${code === null ? '' : ` (${code})`}. Try: ${cure}. The run waits and continues by itself.`,
    { path, code, cause: error },
  );
}

/** Returns the reason and the cure for an operating system's code; null for an unknown one. */
export function explainCode(code: string | null): readonly [reason: string, cure: string] | null {
  return explanations.get(code ?? '') ?? null;
}

/** Returns the operating system's code of an error, or null. */
export function getCode(error: unknown): string | null {
  // Not `instanceof Error`: Node's own errors may come from another realm.
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : null;
}

/** Lists the names in a folder, sorted; none where the system reports a code of `absent`. @throws StoreUnavailable */
export async function listFolder(
  path: string,
  absent: readonly string[] = ['ENOENT'],
): Promise<readonly string[]> {
  try {
    return (await readdir(path)).toSorted();
  } catch (error) {
    if (absent.includes(getCode(error) ?? '')) return [];
    throw toStoreUnavailable('read', path, error);
  }
}
