import { lstatSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isGitName } from '../../../core/effects/check-workspace-path.ts';
import {
  escapeName,
  hasBraces,
  isIgnored,
  isResult,
  listPatternsBelow,
  parseIgnoreFile,
  type IgnoreFile,
} from '../../../core/effects/ignored-paths.ts';

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

/** Returns the ignore file of a folder, by its path from the workspace down. */
type ReadIgnores = (way: readonly string[]) => IgnoreFile;

/** Creates a reader of the ignore files of a folder and those below it, which reads each of them once. @param parts Of the folder. */
function createIgnoreReader(
  folder: { readonly path: string },
  parts: readonly string[],
): ReadIgnores {
  const known = new Map<string, IgnoreFile>();
  return (way) => {
    const path = join(folder.path, ...way.slice(parts.length), '.gitignore');
    const file = known.get(path) ?? parseIgnoreFile(way, readPlainFile(path));
    known.set(path, file);
    return file;
  };
}

/**
 * Returns a test for files below a folder of a workspace that the ignore files above it name. Those below it are read too: they
 * may take a file back.
 *
 * @param parts Of the folder, from the workspace down.
 * @param above Ignore files from the workspace down to the folder, without its own.
 */
function ignoredBelow(
  parts: readonly string[],
  above: readonly IgnoreFile[],
  read: ReadIgnores,
): (path: readonly string[]) => boolean {
  return (path) => {
    if (above.every(({ patterns }) => patterns.length === 0)) return false;
    const ways = path.slice(parts.length).map((_part, at) => path.slice(0, parts.length + at));
    return isIgnored([...above, ...ways.map(read)], path, false);
  };
}

/**
 * Returns the patterns that spare a search below a folder what the ignore files name. They leave in what `ignoredBelow` and
 * `KeptPaths` have to decide on.
 *
 * @param files Those that the search does not read by itself, the outermost first.
 * @param list Lists files that may be read although an ignore file names them.
 */
export async function listSpared(
  parts: readonly string[],
  files: readonly IgnoreFile[],
  list: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  // All of an ignored folder is named, and its files are asked for one by one, like those where results may be.
  if (isIgnored(files, parts, true) || isResult(parts, true)) return [];
  const patterns = listPatternsBelow(files, parts);
  if (patterns.length === 0) return [];
  const top = parts.map((part) => `${part}/`).join('');
  const kept = (await list()).filter((path) => path.startsWith(top)).flatMap(wayTo);
  const back = [...new Set(kept)]
    .filter((path) => path.startsWith(top))
    .map((path) => `!/${escapeName(path.slice(top.length))}`);
  return [...patterns, ...back];
}

/**
 * Reads what decides on the files of a search below a folder: a test for those to leave out of its matches, and the lines of
 * an ignore file for ripgrep, as `RipgrepPlace` describes them.
 *
 * @param parts Of the folder, from the workspace down.
 * @param above Ignore files from the workspace down to the folder, without its own.
 * @param list Lists files that may be read although an ignore file names them.
 */
export async function readSearchRules(
  folder: { readonly path: string },
  parts: readonly string[],
  above: readonly IgnoreFile[],
  list: () => Promise<readonly string[]>,
) {
  const read = createIgnoreReader(folder, parts);
  const misread = await readMisread(folder, parts, above, read);
  const files = [...above, ...misread];
  return {
    isLeft: ignoredBelow(parts, files, read),
    spared: await listSpared(parts, files, list),
    isSparedOnly: misread.length > 0,
  };
}

/** Most folders whose ignore files are read before a search. */
const foldersMax = 10_000;

/**
 * Reads the ignore file of a folder and those below it, where ripgrep would not read the first one as git does. None
 * otherwise.
 *
 * @param parts Of the folder, from the workspace down.
 * @param above Ignore files from the workspace down to the folder, without its own.
 */
async function readMisread(
  folder: { readonly path: string },
  parts: readonly string[],
  above: readonly IgnoreFile[],
  read: ReadIgnores,
): Promise<readonly IgnoreFile[]> {
  if (!hasBraces(read(parts))) return [];
  const files: IgnoreFile[] = [];
  const ways = [parts];
  for (let at = 0; at < ways.length && at < foldersMax; at += 1) {
    const way = ways[at] ?? [];
    const own = read(way);
    if (own.patterns.length > 0) files.push(own);
    const path = join(folder.path, ...way.slice(parts.length));
    // oxlint-disable-next-line no-await-in-loop
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    const inside = entries.flatMap((entry) => (entry.isDirectory() ? [[...way, entry.name]] : []));
    const known = [...above, ...files];
    ways.push(
      ...inside.filter((one) => !isGitName(one.at(-1) ?? '') && !isIgnored(known, one, true)),
    );
  }
  return files;
}

/** Returns the text of a file; of what is none, such as a link, an empty one. */
function readPlainFile(path: string): string {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Lists a path and the folders above it. */
function wayTo(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_part, at) => parts.slice(0, at + 1).join('/'));
}
