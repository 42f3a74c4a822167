import { isIgnored, isResult, parseIgnoreFile } from '../../../core/effects/ignored-paths.ts';

/** Returns true for a path that may be read although it is private or ignored. */
export type ReadGrants = (parts: readonly string[], isFolder: boolean) => boolean;

/** Reads patterns like those of a `.gitignore`. */
export function readGrants(patterns: readonly string[]): ReadGrants {
  const file = parseIgnoreFile([], patterns.join('\n'));
  return (parts, isFolder) => isIgnored([file], parts, isFolder);
}

/** Returns true for a path that may be read although an ignore file names it. */
export type KeptPaths = (parts: readonly string[], isFolder: boolean) => Promise<boolean>;

/** Keeps results of a plan's agents, the listed files, and the folders that lead to them. @param list Called at most once. */
export function keptBy(list?: () => Promise<readonly string[]>): KeptPaths {
  let listed: Promise<ReadonlySet<string>> | undefined;
  return async (parts, isFolder) => {
    if (isResult(parts, isFolder)) return true;
    listed ??= (list?.() ?? Promise.resolve([])).then((paths) => new Set(paths.flatMap(wayTo)));
    return (await listed).has(parts.join('/'));
  };
}

/** Lists a path and the folders above it. */
function wayTo(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_part, at) => parts.slice(0, at + 1).join('/'));
}
