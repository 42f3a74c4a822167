import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';

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
