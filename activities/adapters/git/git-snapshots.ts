import { lstat, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openFolders } from '../file-store/atomic-write-file.ts';
import { markCompared, withIndex } from './git-index.ts';
import { addResults } from './ignored-files.ts';
import {
  GitFailed,
  refLockMsMax,
  runGit,
  splitNul,
  type GitOptions,
  type GitPlace,
} from './run-git.ts';

/** A folder whose states are kept as commits. */
export interface TrackedFolder {
  readonly gitDir: string;
  readonly workTree: string;
  /** Holds what git knows of the folder's files. It is made when it is missing. */
  readonly indexFile: string;
}

/** Result of merging commits. A conflict is a fact: nothing was checked out. */
export type Merged =
  | { readonly ok: true; readonly commit: string }
  /** Paths that both sides changed in different ways. */
  | { readonly ok: false; readonly files: readonly string[] };

/** Value with which a ref is compared when it must not exist yet. */
const noCommit = '0'.repeat(40);

export interface KeptCommit {
  readonly commit: string;
  readonly tree: string;
}

/** Reads several refs by one call of git. A ref that does not exist is missing in the result. */
export async function readRefs(
  gitDir: string,
  refs: readonly string[],
): Promise<ReadonlyMap<string, KeptCommit>> {
  const format = '--format=%(refname) %(objectname) %(tree)';
  const { output } = await runGit({ gitDir }, ['for-each-ref', format, ...refs]);
  return new Map(
    output
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [ref = '', commit = '', tree = ''] = line.split(' ');
        return [ref, { commit, tree }];
      }),
  );
}

/** Returns the commit of a ref, or null when there is none. */
export async function readRef(gitDir: string, ref: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  const { code, output } = await runGit({ gitDir }, args, { okCodes: [0, 1, 128] });
  return code === 0 ? lineOf(output) : null;
}

/**
 * Moves a ref, if it still has the value that was read.
 *
 * @param before null: it did not exist.
 * @throws {GitFailed} when another call was first.
 */
export async function moveRef(
  gitDir: string,
  ref: string,
  commit: string,
  before: string | null,
): Promise<void> {
  if (commit !== before) await changeRef(gitDir, ref, [ref, commit, before ?? noCommit]);
}

export async function deleteRef(gitDir: string, ref: string): Promise<void> {
  await changeRef(gitDir, ref, ['-d', ref]);
}

/** Removes the lock that a killed call of git has left, for which every later one would wait in vain. */
async function changeRef(gitDir: string, ref: string, args: readonly string[]): Promise<void> {
  const change = () => runGit({ gitDir }, ['update-ref', ...args]);
  await removeOldLocks(gitDir, ref);
  try {
    await change();
  } catch (error) {
    // It was young, and the call has waited for it.
    if (!(await removeOldLocks(gitDir, ref))) throw error;
    await change();
  }
}

/** @returns true when there was one. */
async function removeOldLocks(gitDir: string, ref: string): Promise<boolean> {
  const removed = await Promise.all(
    [ref, 'packed-refs'].map(async (name) => {
      const lock = join(gitDir, `${name}.lock`);
      const found = await stat(lock).catch(() => null);
      const isOld = found !== null && Date.now() - found.mtimeMs >= refLockMsMax;
      if (isOld) await rm(lock, { force: true });
      return isOld;
    }),
  );
  return removed.includes(true);
}

/** Returns the commit of a tree. The same arguments give the same commit. */
export async function commitTree(
  gitDir: string,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
  return lineOf((await runGit({ gitDir }, [...args, '-m', message])).output);
}

export async function readTree(gitDir: string, commit: string): Promise<string> {
  return lineOf((await runGit({ gitDir }, ['rev-parse', `${commit}^{tree}`])).output);
}

interface StoreOptions extends Pick<GitOptions, 'packed'> {
  /**
   * True for a delegation's copy: results of a plan's agents are kept although an ignore file names them, and a repository
   * inside, which a command has made, is a folder like any other. Default false.
   */
  readonly isCopy?: boolean;
}

/**
 * Stores the present files of the folder and returns their tree. Ignored files stay out, and so does a repository inside
 * the user's folder: git would keep a link to it instead of its files.
 */
export function storeFolder(
  folder: TrackedFolder,
  { isCopy = false, ...options }: StoreOptions = {},
): Promise<string> {
  return withIndex(folder, async (place) => {
    // Files of this second may change once more without another time.
    const settledSeconds = Math.floor(Date.now() / 1_000) - 1;
    const { isChanged, nested } = await (isCopy ? compareCopy : compareFolder)(place);
    if (isChanged) {
      const left = nested.map(
        (path) => `:(top,exclude,literal)${Buffer.from(path, 'latin1').toString()}`,
      );
      // A file that can't be read keeps its last known state.
      await runGit(place, ['add', '--all', '--ignore-errors', '--', ':/', ...left], {
        ...options,
        okCodes: [0, 1],
      });
    } else await markCompared(place.indexFile, settledSeconds);
    if (isCopy) await addResults(place);
    return lineOf((await runGit(place, ['write-tree'])).output);
  });
}

interface FoundDifferences {
  /** True when any file differs from the index. */
  readonly isChanged: boolean;
  /** Folders that are repositories of their own. Names are bytes of any kind, in Latin-1. */
  readonly nested: readonly string[];
  /** Files of the index with another content, or with a folder in their place. */
  readonly changed: readonly string[];
}

async function compareFolder(place: GitPlace): Promise<FoundDifferences> {
  const args = [
    'ls-files',
    '-t',
    '--others',
    '--modified',
    '--deleted',
    '--exclude-standard',
    '-z',
  ];
  // "? new", "C changed", "R deleted".
  const found = (await runGit(place, args)).output
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '');
  const nested = found.filter((line) => line.startsWith('? ') && line.endsWith('/'));
  const changed = found.filter((line) => line.startsWith('C '));
  return {
    isChanged: found.length > nested.length,
    nested: nested.map((line) => line.slice(2, -1)),
    changed: changed.map((line) => line.slice(2)),
  };
}

/**
 * Compares a folder in which repositories are folders like any other: git takes them for that when its index has a file in
 * them. The one that is entered does not exist, and goes when the folder is stored. A file in whose place the repository
 * stands leaves the index, because git would hide the repository behind it.
 */
async function compareCopy(place: Required<GitPlace>): Promise<FoundDifferences> {
  const opened = new Set<string>();
  for (;;) {
    // One may be inside another.
    // oxlint-disable-next-line no-await-in-loop
    const found = await compareFolder(place);
    // oxlint-disable-next-line no-await-in-loop
    const replaced = await listRepositories(place.workTree, found.changed);
    const closed = [...found.nested.filter((path) => !opened.has(path)), ...replaced];
    if (closed.length === 0) return found;
    const lines = [
      ...replaced.map((path) => `0 ${noCommit}\t${path}\0`),
      ...closed.map((path) => `100644 ${noContent}\t${path}/${noFile}\0`),
    ];
    // oxlint-disable-next-line no-await-in-loop
    await runGit(place, ['update-index', '-z', '--index-info'], {
      stdin: Buffer.from(lines.join(''), 'latin1'),
    });
    for (const path of closed) opened.add(path);
  }
}

/** @param paths Names of any kind, in Latin-1. */
async function listRepositories(workTree: string, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      lstat(
        Buffer.concat([Buffer.from(`${workTree}/`), Buffer.from(`${path}/.git`, 'latin1')]),
      ).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_path, at) => found[at]);
}

/** Object of an empty file. */
const noContent = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
const noFile = '.planwave-none';

/**
 * Puts the folder back to a commit: changed files are restored, new ones removed. Ignored files stay. No command may be at
 * work in it.
 *
 * @param isEmpty True for a folder in which nothing is to be removed.
 */
export function restoreFolder(folder: TrackedFolder, commit: string, isEmpty = false) {
  return withIndex(folder, async (place) => {
    const restore = async (): Promise<void> => {
      await runGit(place, ['read-tree', '--reset', '-u', commit]);
      if (!isEmpty) await runGit(place, ['clean', '-ffdq']);
    };
    try {
      await restore();
    } catch (error) {
      if (!(error instanceof GitFailed)) throw error;
      // A command may have closed a folder.
      await openFolders(folder.workTree);
      await restore();
    }
  });
}

/** Merges two commits without a folder. A merge that changes nothing returns the commit that has everything. */
export async function mergeCommits(gitDir: string, ours: string, theirs: string): Promise<Merged> {
  if (await isAncestor(gitDir, theirs, ours)) return { ok: true, commit: ours };
  if (await isAncestor(gitDir, ours, theirs)) return { ok: true, commit: theirs };
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
  const { code, output } = await runGit({ gitDir }, args, { okCodes: [0, 1] });
  const [tree = '', ...files] = splitNul(output);
  if (code === 1) return { ok: false, files: [...new Set(files)] };
  return { ok: true, commit: await commitTree(gitDir, tree, [ours, theirs], 'merge') };
}

async function isAncestor(gitDir: string, old: string, young: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', old, young];
  return (await runGit({ gitDir }, args, { okCodes: [0, 1] })).code === 0;
}

function lineOf(output: Buffer): string {
  return output.toString().trim();
}
