import { constants } from 'node:fs';
import { access, opendir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { engineLimits } from '../../../core/limits.ts';
import { getCode } from '../file-store/store-errors.ts';
import { isAllowed, isBelow, realOf } from './allowed-folders.ts';

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
  let files = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    // A folder that can't be read is left out of the copies.
    // oxlint-disable-next-line no-await-in-loop
    const folder = await opendir(next).catch(() => null);
    if (folder === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    for await (const entry of folder) {
      if (left.has(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else files += 1;
      if (files > copiedFilesMax) {
        return `${JSON.stringify(dir)} has more than ${copiedFilesMax} files, and each delegation would get a copy. Try: a smaller folder, git init with a .gitignore, or "changes": "direct"`;
      }
    }
  }
  return null;
}
