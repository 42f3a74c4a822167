import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ApplyChangesResult } from '../../../contracts/effect.ts';
import { commitTree, mergeCommits, readTree, storeFolder } from './git-snapshots.ts';
import { GitFailed, runGit } from './run-git.ts';
import { findGitDir, repositoryOf, userFolder } from './run-repository.ts';

/** A run, and the user's folder that it changes. */
interface RunFolder {
  /** The artifact home, an absolute path. */
  readonly home: string;
  readonly run_id: string;
  readonly dir: string;
}

export interface CommitOptions {
  readonly message: string;
  /** Time of the commit in Unix epoch seconds. */
  readonly at: number;
}

/** Newest commits of a branch among which the one of a run is searched. */
const searchedCommits = 1_000;

/** Returns why nothing can be committed on top of what is checked out, or null. */
export async function findBranchFault(gitDir: string): Promise<string | null> {
  const okCodes = [0, 1, 128];
  for (const [question, fault] of [
    [['symbolic-ref', '--quiet', 'HEAD'], 'no branch is checked out'],
    [['rev-parse', '--quiet', '--verify', 'HEAD'], 'the branch has no commit'],
    [['diff-index', '--cached', '--quiet', 'HEAD'], 'other changes are staged'],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop
    if ((await runGit({ gitDir }, question, { okCodes })).code !== 0) return fault;
  }
  return null;
}

/** Said of a folder that differs from its newest commit, also where git's status shows no change. */
const differs =
  'before the run’s changes, the folder differed from the newest commit: by other changes, a submodule, or modes or line ends that git converts';

/**
 * Commits the applied changes on the user's branch. Files that are applied already, by an attempt that was killed, are
 * committed when the branch still is where they were applied to. What git refuses is said in the note: the files are in the
 * folder, and the commit may be made by then.
 *
 * @param applied Commit of the folder with the changes; its parent is the folder before. Null: there is none.
 */
export async function commitApplied(
  { home, run_id, dir }: RunFolder,
  applied: string | null,
  options: CommitOptions,
): Promise<ApplyChangesResult> {
  const runDir = repositoryOf(home, run_id);
  const gitDir = await findGitDir(dir);
  if (applied === null || gitDir === null) {
    return { state: 'applied', note: 'Not committed: the folder is no git repository.' };
  }
  const [from, to] = await Promise.all([
    readTree(runDir, `${applied}^`),
    readTree(runDir, applied),
  ]);
  try {
    return await commitFiles({ gitDir, runDir, from, to }, options);
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const now = await readTree(gitDir, 'HEAD').catch(() => null);
    if (now !== to) return { state: 'applied', note: `Not committed: ${error.message}` };
    const old = `The index of the repository has the files before the commit: ${error.message}`;
    return { state: 'committed', note: `${old} Try: git reset, before the next commit.` };
  }
}

/** Trees before and after the changes, in the repository of the run and in the user's. */
type TreeChange = Readonly<Record<'gitDir' | 'runDir' | 'from' | 'to', string>>;

async function commitFiles(
  change: TreeChange,
  options: CommitOptions,
): Promise<ApplyChangesResult> {
  const { gitDir, from, to } = change;
  const now = await readTree(gitDir, 'HEAD');
  if (now === to) {
    await settleIndex(gitDir);
    return { state: 'committed', note: '' };
  }
  const fault = (await findBranchFault(gitDir)) ?? (now === from ? null : differs);
  if (fault !== null) return { state: 'applied', note: `Not committed: ${fault}.` };
  // The result of a run is final: no later call commits them.
  await commitOnBranch(change, options, 'git add and git commit in your folder');
  return { state: 'committed', note: '' };
}

/** Fate of the commit of a run whose changes were taken out of the folder: a commit took it back, or the user has to. */
export type UndoneCommit = 'reverted' | 'left';

/**
 * Commits on the user's branch that the changes were taken out of the folder, if the run had committed them there, and the
 * folder holds nothing else that is not committed. History is not rewritten.
 *
 * @param undo `applied`: the commit of the folder with the changes. `before`: the one without them, on top of it.
 * @param at Time of the commit in Unix epoch seconds.
 * @returns null when the run's changes are in no commit of the branch.
 */
export async function commitUndone(
  { home, run_id, dir }: RunFolder,
  { applied, before }: { readonly applied: string; readonly before: string },
  at: number,
): Promise<UndoneCommit | null> {
  const runDir = repositoryOf(home, run_id);
  const gitDir = await findGitDir(dir);
  if (gitDir === null) return null;
  const made = await findCommit(gitDir, await readTree(runDir, applied));
  if (made === null) return null;
  const [from, to] = [await readTree(gitDir, 'HEAD'), await storeFolder(userFolder(runDir, dir))];
  // An attempt that was killed has committed it.
  if (from === to) {
    await settleIndex(gitDir);
    return 'reverted';
  }
  const hasHead = await runGit({ gitDir: runDir }, ['cat-file', '-e', from], {
    okCodes: [0, 1, 128],
  });
  if (hasHead.code !== 0 || (await findBranchFault(gitDir)) !== null) return 'left';
  const head = await commitTree(runDir, from, [applied], 'head');
  const reverted = await mergeCommits(runDir, head, before);
  if (!reverted.ok || (await readTree(runDir, reverted.commit)) !== to) return 'left';
  const message = `Revert "${made.subject}"\n\nThis reverts commit ${made.id}.`;
  await commitOnBranch({ gitDir, runDir, from, to }, { message, at }, 'once more');
  return 'reverted';
}

/** Finds the commit of the current branch that planwave made of a tree. */
async function findCommit(gitDir: string, tree: string) {
  const format = '--format=%T %H %s';
  const args = [
    'rev-list',
    `--max-count=${searchedCommits}`,
    '--committer=planwave@localhost',
    format,
  ];
  const { output } = await runGit({ gitDir }, [...args, 'HEAD'], { okCodes: [0, 128] });
  const line = output
    .toString()
    .split('\n')
    .find((one) => one.startsWith(`${tree} `));
  if (line === undefined) return null;
  const [, id = '', ...words] = line.split(' ');
  return { id, subject: words.join(' ') };
}

/**
 * Makes a commit of a tree of the run's repository on top of the user's branch. The files are there already.
 *
 * @param afterLock What the user can do when the git that is at work there has ended.
 * @throws {GitFailed}
 */
async function commitOnBranch(
  { gitDir, runDir, from, to }: TreeChange,
  { message, at }: CommitOptions,
  afterLock: string,
): Promise<void> {
  // The index can't follow the commit then, and the user's next commit would take it back.
  const lock = join(gitDir, 'index.lock');
  if (existsSync(lock)) {
    const cure = `Try: ${afterLock} when it has ended; if none is, remove ${lock}`;
    throw new GitFailed(`another git is at work in the repository. ${cure}`);
  }
  const head = (await runGit({ gitDir }, ['rev-parse', 'HEAD'])).output.toString().trim();
  const pack = await runGit({ gitDir: runDir }, ['pack-objects', '--stdout', '--revs', '-q'], {
    stdin: Buffer.from(`${to}\n^${from}\n`),
  });
  await runGit({ gitDir }, ['unpack-objects', '-q'], { stdin: pack.output });
  const made = await runGit({ gitDir }, ['commit-tree', to, '-p', head, '-m', message], { at });
  const commit = made.output.toString().trim();
  await runGit({ gitDir }, ['update-ref', '-m', 'planwave', 'HEAD', commit, head]);
  await runGit({ gitDir }, ['read-tree', commit]);
}

/**
 * Makes up for an attempt that was killed right after its commit: the user's index still has the files before it, as if the
 * user had staged them. Nothing was staged when the commit was made.
 */
async function settleIndex(gitDir: string): Promise<void> {
  const question = ['diff-index', '--cached', '--quiet', 'HEAD^'];
  const { code } = await runGit({ gitDir }, question, { okCodes: [0, 1, 128] });
  if (code === 0) await runGit({ gitDir }, ['read-tree', 'HEAD']);
}
