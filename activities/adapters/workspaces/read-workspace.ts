import { join, relative, sep } from 'node:path';
import {
  checkReadPath,
  isGitName,
  isPrivateName,
} from '../../../core/effects/check-workspace-path.ts';
import {
  isIgnored,
  matchPattern,
  parseIgnoreFile,
  type IgnoreFile,
} from '../../../core/effects/ignored-paths.ts';
import { engineLimits } from '../../../core/limits.ts';
import {
  WorkspaceRefused,
  type FolderListing,
  type ListedEntry,
  type SearchOrder,
  type SearchResult,
  type WorkspacePlace,
  type Workspaces,
} from '../../ports/workspaces.ts';
import { getCode } from '../file-store/store-errors.ts';
import type { OpenFile } from './open-file.ts';
import { closing, descend, type OpenFolder, refuseOwn, toRefusal } from './open-folder.ts';
import { keptBy, readSearchRules, type KeptPaths, type ReadGrants } from './readable-paths.ts';
import { readLines, readWhole, type RedactLines } from './read-file.ts';
import { redactMatches } from './redact-matches.ts';
import { runRipgrep, type RipgrepPlace } from './ripgrep.ts';

/** Root of a workspace, and the way from there to the agents' part of it. */
export interface Root {
  /** No folder below this one may be a link. */
  readonly path: string;
  readonly names: readonly string[];
  /** The artifact home, without links, where agents could reach it from here; otherwise null. */
  readonly home: string | null;
  /** True for a delegation's copy. */
  readonly isCopy: boolean;
  /** Lists files that may be read although an ignore file names them. If absent, none. */
  readonly listKept?: () => Promise<readonly string[]>;
}

/** Part of the workspace that is read. */
interface Reach {
  readonly folder: OpenFolder;
  /** Parts of the folder's path, from the workspace down. */
  readonly parts: readonly string[];
  /** Ignore files from the workspace down to this folder, without its own. */
  readonly ignores: readonly IgnoreFile[];
  readonly home: string | null;
  /** True when the path that is asked for is granted: then nothing on its way is private or ignored. */
  readonly granted: boolean;
  readonly isKept: KeptPaths;
}

/** Most bytes of an ignore file that are read. */
const ignoreFileBytesMax = 256 * 1024;

/**
 * Creates the reading half of workspaces.
 *
 * RW1. Private names, ignored files and the engine's own files are neither read, listed nor searched. What the worker's
 *      owner grants is read and listed, but for git's and the engine's own files.
 * RW2. Nothing is followed that is a link, and nothing is opened that is no regular file or folder.
 * RW3. Every answer has a bound: bytes of a file, entries of a listing, matches of a search.
 */
export function createReader(
  rootOf: (place: WorkspacePlace) => Promise<Root>,
  grants: ReadGrants,
  redact: RedactLines,
): Pick<Workspaces, 'list' | 'read' | 'readLines' | 'search'> {
  const readFile = async <T>(
    place: WorkspacePlace,
    path: string,
    take: (file: OpenFile) => Promise<T>,
  ): Promise<T> => {
    const parts = readParts(path, grants);
    const name = parts.at(-1);
    if (name === undefined) throw new WorkspaceRefused('A path is missing. Try: list_files.');
    const granted = grants(parts, false);
    const readFrom = async (root: Root): Promise<T | null> =>
      inFolder({ ...root, granted }, parts.slice(0, -1), path, async (reach) => {
        await assertOpen(reach, name, false, path);
        const file = reach.folder.openFile(name);
        return file === null ? null : closing(file, take);
      });
    const { run_id, dir, worker } = place;
    if (!granted || worker === undefined) {
      return (await readFrom(await rootOf(place))) ?? throwMissing(path);
    }
    const inCopy = await readFrom(await rootOf(place)).catch(toMissing);
    // A copy has no ignored files: those that are granted are in the user's folder.
    return inCopy ?? (await readFrom(await rootOf({ run_id, dir }))) ?? throwMissing(path);
  };
  return {
    async list(place, path, depth) {
      const parts = readParts(path, grants);
      const entries: ListedEntry[] = [];
      const granted = grants(parts, true);
      await inFolder({ ...(await rootOf(place)), granted }, parts, path, (reach) =>
        collect(reach, { depth, grants }, entries),
      );
      const { listedEntriesMax: max } = engineLimits;
      return {
        entries: entries.slice(0, max),
        isCut: entries.length > max,
      } satisfies FolderListing;
    },
    read: (place, path) => readFile(place, path, (file) => readWhole(file, path)),
    readLines: (place, path, range) =>
      readFile(place, path, (file) => readLines(file, path, range, redact)),
    search: async (place, order, signal) =>
      redactMatches(
        await search(await rootOf(place), order, { signal, redact }),
        redact,
        (path) => {
          signal.throwIfAborted();
          return readFile(place, path, (file) => readWhole(file, path)).catch(toMissing);
        },
      ),
  };
}

function readParts(path: string, grants: ReadGrants): readonly string[] {
  const checked = checkReadPath(path, (parts) => grants(parts, false) || grants(parts, true));
  if (!checked.ok) throw new WorkspaceRefused(checked.reason);
  return checked.parts;
}

/** @returns null when the workspace does not exist yet. */
async function inFolder<T>(
  { path, names, home, granted, listKept }: Omit<Root, 'isCopy'> & Pick<Reach, 'granted'>,
  parts: readonly string[],
  shown: string,
  work: (reach: Reach) => Promise<T>,
): Promise<T | null> {
  let ignores: readonly IgnoreFile[] = [];
  const all = [...names, ...parts];
  const reach = { home, granted, isKept: keptBy(listKept) };
  try {
    const folder = await descend(path, all, {
      async onWay(on, next, depth) {
        if (depth < names.length) return;
        const above = parts.slice(0, depth - names.length);
        await assertOpen({ ...reach, folder: on, parts: above, ignores }, next, true, shown);
        ignores = [...ignores, ...(await readIgnoreFile(on, above))];
      },
    });
    return await closing(folder, () => work({ ...reach, folder, parts, ignores }));
  } catch (error) {
    if (getCode(error) === 'ENOENT' && parts.length === 0) return null;
    throw toRefusal(shown, 'read', error);
  }
}

/** Checks that a name in a folder may be read. @throws {WorkspaceRefused} */
async function assertOpen(
  reach: Reach,
  name: string,
  isFolder: boolean,
  shown: string,
): Promise<void> {
  if (isHome(reach, name)) throw refuseOwn(shown);
  if (reach.granted) return;
  const ignores = [...reach.ignores, ...(await readIgnoreFile(reach.folder, reach.parts))];
  const path = [...reach.parts, name];
  if (!isIgnored(ignores, path, isFolder) || (await reach.isKept(path, isFolder))) return;
  throw new WorkspaceRefused(
    `${JSON.stringify(shown)} is ignored by a .gitignore, so it can't be read. Try: a file that is part of the project.`,
  );
}

function isHome({ folder, home }: Reach, name: string): boolean {
  return home !== null && join(folder.real, name) === home;
}

async function readIgnoreFile(folder: OpenFolder, parts: readonly string[]): Promise<IgnoreFile[]> {
  // A link or a folder in its place ignores nothing, as with git.
  const file = openOrNull(folder, '.gitignore');
  if (file === null) return [];
  const text = await closing(file, () => file.readAtMost(ignoreFileBytesMax));
  return [parseIgnoreFile(parts, new TextDecoder().decode(text))];
}

/** Adds what a folder holds, and then what is in its folders, sorted by path. */
async function collect(
  reach: Reach,
  { depth, grants }: { readonly depth: number; readonly grants: ReadGrants },
  entries: ListedEntry[],
): Promise<void> {
  const { folder, parts } = reach;
  const ignores = [...reach.ignores, ...(await readIgnoreFile(folder, parts))];
  const found = folder.entries().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of found) {
    if (entries.length > engineLimits.listedEntriesMax) return;
    const { name } = entry;
    const path = [...parts, name];
    const isFolder = entry.isDirectory();
    const granted = reach.granted || grants(path, isFolder);
    // oxlint-disable-next-line no-await-in-loop
    if (!(await isListed({ ...reach, ignores, granted }, path, isFolder))) continue;
    const kind = entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';
    const bytes = kind === 'file' ? sizeOf(folder, name) : 0;
    entries.push({ path: path.join('/'), kind, bytes });
    if (kind !== 'folder' || depth <= 1) continue;
    // Sequential, so that few folders are open at a time and the bound holds.
    // oxlint-disable-next-line no-await-in-loop
    const inside = await folder.enter(name).catch(() => null);
    if (inside === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    await closing(inside, () =>
      collect(
        { ...reach, folder: inside, parts: path, ignores, granted },
        { depth: depth - 1, grants },
        entries,
      ),
    );
  }
}

/** @param path Of an entry of the folder. */
async function isListed(
  reach: Reach,
  path: readonly string[],
  isFolder: boolean,
): Promise<boolean> {
  const name = path.at(-1) ?? '';
  if (isGitName(name) || isHome(reach, name)) return false;
  if (reach.granted) return true;
  if (isPrivateName(name)) return false;
  return !isIgnored(reach.ignores, path, isFolder) || reach.isKept(path, isFolder);
}

/** @returns 0 for a file that is gone by now, or can't be opened. */
function sizeOf(folder: OpenFolder, name: string): number {
  const file = openOrNull(folder, name);
  file?.close();
  return file?.bytes ?? 0;
}

function openOrNull(folder: OpenFolder, name: string): OpenFile | null {
  try {
    return folder.openFile(name);
  } catch {
    return null;
  }
}

async function search(
  root: Root,
  order: SearchOrder,
  by: Pick<RipgrepPlace, 'signal' | 'redact'>,
): Promise<SearchResult> {
  // What is granted is read by its path: a search finds only what belongs to the project.
  const parts = readParts(order.path, () => false);
  const isWanted = order.glob === null ? () => true : matchPattern(order.glob);
  let kept: Promise<readonly string[]> | undefined;
  const listKept = () => (kept ??= root.listKept?.() ?? Promise.resolve([]));
  const found = await inFolder(
    { ...root, granted: false, listKept },
    parts,
    order.path,
    async ({ folder, home, ignores, isKept }) => {
      const { isLeft, ...lines } = await readSearchRules(folder, parts, ignores, listKept);
      const own = home === null ? '' : relative(folder.real, home).split(sep).join('/');
      return runRipgrep(order, {
        // The process starts in the folder that is open, whatever its path leads to by then.
        cwd: folder.path,
        hidden: own === '' || own.startsWith('..') ? [] : [own],
        ...lines,
        ...by,
        pathOf: async (inside) => {
          const names = [...parts, ...inside.split('/')];
          const isOpen = checkReadPath(names.join('/')).ok && isWanted(names);
          if (!isOpen || (isLeft(names) && !(await isKept(names, false)))) return null;
          return names.join('/');
        },
      });
    },
  );
  return found ?? { matches: [], isCut: false };
}

/** Takes a path that can't be read for one that is not there. */
function toMissing(error: unknown): null {
  if (error instanceof WorkspaceRefused) return null;
  throw error;
}

/** @throws {WorkspaceRefused} for a file that is not there. */
export function throwMissing(shown: string): never {
  throw new WorkspaceRefused(`There is no file ${JSON.stringify(shown)}. Try: list_files.`);
}
