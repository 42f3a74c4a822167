import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import { putInPlace, temporaryPattern } from '../file-store/atomic-write-file.ts';
import { isBelow, realOf } from '../workspaces/open-folder.ts';
import { commitTree, moveRef, storeFolder, type TrackedFolder } from './git-snapshots.ts';
import { runGit } from './run-git.ts';

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

/**
 * Names that no copy has, unless the user's repository tracks them: secrets, folders that commands share, and what a worker
 * that was killed left of a write. The artifact home would be copied into itself.
 */
async function listExcluded(home: string, dir: string): Promise<string> {
  const [folder, own] = await Promise.all([realOf(dir), realOf(home)]);
  const ownPath = isBelow(folder, own) ? [`/${relative(folder, own)}/`] : [];
  const names = ['.env', '.env.*', 'node_modules/', '.venv/', temporaryPattern, ...ownPath];
  return names.map((name) => `${name}\n`).join('');
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
 * helpers) takes part in what agents do.
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
  await runGit(place, ['update-index', '-z', '--add', '--remove', '--stdin'], {
    stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    packed: true,
  });
}
