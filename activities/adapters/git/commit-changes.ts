import { existsSync } from 'node:fs';
import type { FileChange, ApplyChangesResult } from '../../../contracts/effect.ts';
import {
  commitTree,
  mergeCommits,
  readTree,
  storeFolder,
  changeFolder,
  deleteRef,
  diffCommits,
  listChangedFiles,
  moveRef,
  readRef,
} from './git-snapshots.ts';
import { runGit } from './run-git.ts';
import { findGitDir, repositoryOf, userFolder, baseRef } from './run-repository.ts';
import { mergeForUser, type ChangedRun } from './merge-for-user.ts';

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

/** Returns true when a branch with a commit is checked out, and nothing else is staged. */
export async function isBranch(gitDir: string): Promise<boolean> {
  const okCodes = [0, 1, 128];
  for (const question of [
    ['symbolic-ref', '--quiet', 'HEAD'],
    ['rev-parse', '--quiet', '--verify', 'HEAD'],
    ['diff-index', '--cached', '--quiet', 'HEAD'],
  ]) {
    // oxlint-disable-next-line no-await-in-loop
    if ((await runGit({ gitDir }, question, { okCodes })).code !== 0) return false;
  }
  return true;
}

/**
 * Commits the applied changes on the user's branch. Files that are applied already, by an attempt that was killed, are
 * committed when the branch still is where they were applied to.
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
  const now = await readTree(gitDir, 'HEAD');
  if (now === to) {
    await settleIndex(gitDir);
    return { state: 'committed', note: '' };
  }
  if (now !== from || !(await isBranch(gitDir))) {
    return { state: 'applied', note: 'Not committed: the repository had other changes.' };
  }
  await commitOnBranch({ gitDir, runDir, from, to }, options);
  return { state: 'committed', note: '' };
}

/** Fate of the commit of a run whose changes were taken out of the folder: a commit took it back, or the user has to. */
type UndoneCommit = 'reverted' | 'left';

/**
 * Commits on the user's branch that the changes were taken out of the folder, if the run had committed them there, and the
 * folder holds nothing else that is not committed. History is not rewritten.
 *
 * @param undo `applied`: the commit of the folder with the changes. `before`: the one without them, on top of it.
 * @param at Time of the commit in Unix epoch seconds.
 * @returns null when the run's changes are in no commit of the branch.
 */
async function commitUndone(
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
  if (hasHead.code !== 0 || !(await isBranch(gitDir))) return 'left';
  const head = await commitTree(runDir, from, [applied], 'head');
  const reverted = await mergeCommits(runDir, head, before);
  if (!reverted.ok || (await readTree(runDir, reverted.commit)) !== to) return 'left';
  const message = `Revert "${made.subject}"\n\nThis reverts commit ${made.id}.`;
  await commitOnBranch({ gitDir, runDir, from, to }, { message, at });
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

/** Makes a commit of a tree of the run's repository on top of the user's branch. The files are there already. */
async function commitOnBranch(
  { gitDir, runDir, from, to }: Readonly<Record<'gitDir' | 'runDir' | 'from' | 'to', string>>,
  { message, at }: CommitOptions,
): Promise<void> {
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

/** Result of `applyChanges` and `undoChanges`. Unless it is `done`, no file was touched. */
export type ChangeResult =
  | {
      readonly state: 'done';
      readonly files: readonly FileChange[];
      /** Fate of the commit of the run, after `undoChanges`. Absent when it made none. */
      readonly commit?: UndoneCommit;
    }
  | { readonly state: 'nothing' }
  /** They were applied before, and not undone. */
  | { readonly state: 'applied_before' }
  /** `with`: the delegation whose changes contradict the others, or null for the folder's own. */
  | { readonly state: 'conflict'; readonly with: string | null; readonly files: readonly string[] }
  /** Files that git ignores stand where files of the run belong. */
  | { readonly state: 'in_the_way'; readonly files: readonly string[] };

/** Ref of the folder with the changes; its parent is the folder before. `applying` until every file is written. */
const appliedRef = 'refs/planwave/applied';
const applyingRef = 'refs/planwave/applying';

/** Returns the changes of a run that `applyChanges` would make as one patch, or the contradiction that prevents it. */
export async function diffRun(run: ChangedRun): Promise<string | ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  if (!existsSync(gitDir)) return '';
  const merged = await mergeForUser(run);
  if (!merged.ok) return { state: 'conflict', with: merged.delegation_id, files: merged.files };
  return diffCommits(gitDir, baseRef, merged.commit);
}

/**
 * Brings the changes of a run into the user's folder, as changes that are not committed. What the user has changed since
 * the run began stays; where both changed the same lines, nothing is written. After a crash it continues.
 */
export async function applyChanges(run: ChangedRun): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  if (!existsSync(gitDir)) return { state: 'nothing' };
  if ((await readRef(gitDir, appliedRef)) !== null) return { state: 'applied_before' };
  const begun = await readRef(gitDir, applyingRef);
  const target = begun ?? (await findTarget(run, gitDir));
  if (typeof target !== 'string') return target;
  await moveRef(gitDir, applyingRef, target, begun);
  const result = await bringTo(run, `${target}^`, target);
  if (result.state === 'done') await moveRef(gitDir, appliedRef, target, null);
  await deleteRef(gitDir, applyingRef);
  return result;
}

/** Returns what would keep `applyChanges` from bringing the changes into the folder as it is now. */
export async function findObstacle(run: ChangedRun): Promise<ChangeResult> {
  const target = await findTarget(run, repositoryOf(run.home, run.run_id));
  return typeof target === 'string' ? { state: 'done', files: [] } : target;
}

/** Returns the commit of the folder with the changes, if they are in it; its parent is the folder before. */
export function appliedCommit(gitDir: string): Promise<string | null> {
  return readRef(gitDir, appliedRef);
}

/**
 * Takes the changes of a run out of the user's folder again. What the user has changed since stays. If the run had committed
 * them, so is this.
 *
 * @param at Time of the commit in Unix epoch seconds.
 */
export async function undoChanges(run: ChangedRun, at: number): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  const applied = existsSync(gitDir) ? await readRef(gitDir, appliedRef) : null;
  if (applied === null) return { state: 'nothing' };
  const before = await commitTree(gitDir, await readTree(gitDir, `${applied}^`), [applied], 'undo');
  const result = await bringTo(run, applied, before);
  if (result.state !== 'done') return result;
  const commit = await commitUndone(run, { applied, before }, at);
  await deleteRef(gitDir, appliedRef);
  return { ...result, ...(commit !== null && { commit }) };
}

/** Returns the commit of the folder as it is, with the run's changes on top of it. */
async function findTarget(run: ChangedRun, gitDir: string): Promise<string | ChangeResult> {
  const merged = await mergeForUser(run);
  if (!merged.ok) return { state: 'conflict', with: merged.delegation_id, files: merged.files };
  const tree = await storeFolder(userFolder(gitDir, run.dir));
  const now = await commitTree(gitDir, tree, [baseRef], 'folder');
  const both = await mergeCommits(gitDir, now, merged.commit);
  if (!both.ok) return { state: 'conflict', with: null, files: both.files };
  const target = await readTree(gitDir, both.commit);
  if (target === tree) return { state: 'nothing' };
  return commitTree(gitDir, target, [now], 'apply');
}

/** Makes the change from one commit to the next one in the folder, whatever else was changed there. */
async function bringTo(run: ChangedRun, from: string, to: string): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  const folder = userFolder(gitDir, run.dir);
  const tree = await storeFolder(folder);
  const now = await commitTree(gitDir, tree, [from], 'folder');
  const both = await mergeCommits(gitDir, now, to);
  if (!both.ok) return { state: 'conflict', with: null, files: both.files };
  const inTheWay = await changeFolder(folder, tree, await readTree(gitDir, both.commit));
  if (inTheWay.length > 0) return { state: 'in_the_way', files: inTheWay };
  return { state: 'done', files: await listChangedFiles(gitDir, from, to) };
}
