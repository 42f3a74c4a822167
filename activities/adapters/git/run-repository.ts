import { randomUUID } from 'node:crypto';
import { existsSync, type Dirent } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import { putInPlace } from '../file-store/atomic-write-file.ts';
import { isBelow, realOf } from '../workspaces/open-folder.ts';
import { commitTree, moveRef, storeFolder, type TrackedFolder } from './git-snapshots.ts';
import { excludedNames } from './ignored-files.ts';
import { GitFailed, runGit, splitNul } from './run-git.ts';

/** Ref of the user's files as they were when the run first needed them. */
export const baseRef = 'refs/planwave/base';

/**
 * Ref of a commit of one delegation. Task ids have dots, and a ref must not end with ".lock".
 *
 * @param kind `left`: a task whose changes don't count. `joined`: a task whose changes its team's own copy was given.
 */
export function delegationRef(
  kind: 'start' | 'end' | 'left' | 'joined',
  delegationId: string,
): string {
  return `refs/planwave/${kind}/${delegationId.replaceAll('.', '+')}`;
}

/** Reads the delegation from a ref that `delegationRef` has built. */
export function readDelegationRef(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replaceAll('+', '.');
}

/** Attributes that win over every `.gitattributes`: git keeps the bytes of a file as they are. */
const unchangedBytes = '* -text -ident -filter -working-tree-encoding\n';

/** Lists what no copy has, unless the user's repository tracks it. The artifact home would be copied into itself. */
async function listExcluded(home: string, dir: string): Promise<string> {
  const [folder, own] = await Promise.all([realOf(dir), realOf(home)]);
  const ownPath = isBelow(folder, own) ? [`/${relative(folder, own)}/`] : [];
  // The last ones win.
  const patterns = [await readUserPatterns(folder), ...excludedNames, ...ownPath];
  return patterns.map((text) => `${text}\n`).join('');
}

/** Reads by which patterns git ignores files of the user's folder, beside the `.gitignore` files in it. */
async function readUserPatterns(folder: string): Promise<string> {
  let top = folder;
  let gitDir = await findGitDir(top);
  while (gitDir === null && top !== dirname(top)) {
    top = dirname(top);
    // Each folder is asked after the one in it.
    // oxlint-disable-next-line no-await-in-loop
    gitDir = await findGitDir(top);
  }
  if (gitDir === null) return '';
  try {
    const general = await readText(await findGeneralPatterns(gitDir));
    if (top !== folder) return `${general}\n${await listIgnored({ gitDir, top, folder })}`;
    const { output } = await runGit({ gitDir }, ['rev-parse', '--git-path', 'info/exclude']);
    return `${general}\n${await readText(output.toString().trim())}`;
  } catch (error) {
    // A folder above that is no repository after all.
    if (error instanceof GitFailed && top !== folder) return '';
    throw error;
  }
}

/**
 * Returns the path of the ignore file for all repositories of the worker's user, which need not exist. Settings that git can't
 * read, such as a file with an error, name none.
 */
async function findGeneralPatterns(gitDir: string): Promise<string> {
  const args = ['config', '--type=path', '--get', 'core.excludesFile'];
  const { code, output } = await runGit({ gitDir }, args, { okCodes: [0, 1, 128], asUser: true });
  const named = output.toString().trim();
  if (code === 0 && named !== '') return named;
  const { XDG_CONFIG_HOME: config = '' } = process.env;
  return join(config === '' ? join(homedir(), '.config') : config, 'git', 'ignore');
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.replace(/^\uFEFF/u, '');
}

/** Lists what a repository ignores in a folder below its top, as patterns for that folder: those of its files may name the way there. */
async function listIgnored({
  gitDir,
  top,
  folder,
}: Readonly<Record<'gitDir' | 'top' | 'folder', string>>): Promise<string> {
  const way = `${relative(top, folder).split(sep).join('/')}/`;
  const question = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const args = [...question, '--', `:(top,literal)${way}`];
  const paths = splitNul((await runGit({ gitDir, workTree: top }, args)).output);
  // A folder that is ignored itself was chosen nevertheless.
  return paths
    .filter((path) => path.startsWith(way) && path !== way && !path.includes('\n'))
    .map((path) => `/${path.slice(way.length).replaceAll(/[\\*?[\] ]/gu, String.raw`\$&`)}`)
    .join('\n');
}

/** A run's own repository, beside the worktrees of its delegations. */
export function repositoryOf(home: string, runId: string): string {
  return join(home, toRunDirectory(runId), treePaths.repository);
}

/** The user's folder as the run's repository sees it: the index is the run's own. */
export function userFolder(gitDir: string, dir: string): TrackedFolder {
  return { gitDir, workTree: resolve(dir), indexFile: join(gitDir, 'user-folder.index') };
}

/** Returns the git directory of a folder that is the top of a repository, else null. */
export async function findGitDir(dir: string): Promise<string | null> {
  const path = join(resolve(dir), '.git');
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return path;
  if (found?.isFile() !== true || found.size > 4_096) return null;
  // A worktree of the user's own.
  const [, target] = /^gitdir: ([^\n]+)/.exec(await readFile(path, 'utf8')) ?? [];
  return target === undefined ? null : resolve(dir, target);
}

/**
 * Returns the git directory of a run, with the user's files as its base. It appears as a whole: a crash leaves none or
 * one that can be used, and of two calls at once one wins.
 *
 * A repository of the run's own keeps the user's clean, and nothing in the user's configuration (filters, hooks, remote
 * helpers) takes part in what agents do: of it, only the name of the ignore file is read.
 *
 * @throws {GitFailed}
 */
export async function openRepository(home: string, runId: string, dir: string): Promise<string> {
  const gitDir = repositoryOf(home, runId);
  if (existsSync(gitDir)) return gitDir;
  const made = `${gitDir}.${randomUUID()}`;
  try {
    await mkdir(dirname(gitDir), { recursive: true, mode: 0o700 });
    await runGit({ gitDir: made }, ['init', '--quiet', '--template=']);
    await mkdir(join(made, 'info'), { recursive: true });
    await writeFile(join(made, 'info', 'attributes'), unchangedBytes);
    await writeFile(join(made, 'info', 'exclude'), await listExcluded(home, dir));
    const folder = userFolder(made, dir);
    await addTracked(folder, dir);
    const tree = await storeFolder(folder, { packed: true });
    await moveRef(made, baseRef, await commitTree(made, tree, [], 'base'), null);
    await putInPlace(made, gitDir);
    return gitDir;
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** Adds what the user tracks: some of it may be ignored, and would be left out. */
async function addTracked(place: TrackedFolder, dir: string): Promise<void> {
  const gitDir = await findGitDir(dir);
  if (gitDir === null) return;
  const { output } = await runGit({ gitDir, workTree: place.workTree }, ['ls-files', '-s', '-z']);
  // "<mode> <object> <stage>\t<path>": a submodule (160000) stays out.
  const paths = output
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '' && !line.startsWith('160000'))
    .map((line) => line.slice(line.indexOf('\t') + 1));
  // At the first path that is no file any more, git ends.
  const files = await keepFiles(place.workTree, paths);
  await runGit(place, ['update-index', '-z', '--add', '--remove', '--stdin'], {
    stdin: Buffer.from(files.map((path) => `${path}\0`).join(''), 'latin1'),
    packed: true,
  });
}

/** Keeps the paths at which a file or a link is, below folders that are no links. Names are bytes of any kind, in Latin-1. */
async function keepFiles(root: string, paths: readonly string[]): Promise<string[]> {
  const known = new Map<string, Promise<ReadonlyMap<string, Dirent>>>();
  const listOnce = (folder: string): Promise<ReadonlyMap<string, Dirent>> => {
    const entries = known.get(folder) ?? list(folder);
    known.set(folder, entries);
    return entries;
  };
  const find = async (path: string): Promise<Dirent | undefined> => {
    const at = path.lastIndexOf('/');
    return (await listOnce(path.slice(0, Math.max(at, 0)))).get(path.slice(at + 1));
  };
  const list = async (folder: string): Promise<ReadonlyMap<string, Dirent>> => {
    if (folder !== '' && (await find(folder))?.isDirectory() !== true) return new Map();
    const path = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(folder, 'latin1')]);
    const options = { encoding: 'latin1', withFileTypes: true } as const;
    // What can't be read is left out.
    const entries = await readdir(path, options).catch(() => []);
    return new Map(entries.map((entry) => [entry.name, entry]));
  };
  const found = await Promise.all(paths.map(find));
  return paths.filter((_path, at) => found[at]?.isFile() || found[at]?.isSymbolicLink());
}
