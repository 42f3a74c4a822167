import type { ChangedFile } from '../../ports/worktrees.ts';
import { commitUndone } from './commit-changes.ts';
import type { UndoneCommit } from './commit-changes.ts';
import { mergeChanges } from './git-worktrees.ts';
import {
  changeFolder,
  commitTree,
  deleteRef,
  diffCommits,
  listChangedFiles,
  mergeCommits,
  moveRef,
  readRef,
  readTree,
  storeFolder,
} from './git-snapshots.ts';
import { baseRef, exists, repositoryOf, userFolder } from './run-repository.ts';

/** A run whose changes can be taken over into the user's folder. */
export interface ChangedRun {
  /** The artifact home, an absolute path. */
  readonly home: string;
  readonly run_id: string;
  /** The user's folder. */
  readonly dir: string;
  /** Delegations whose changes count, in the order in which they are merged. */
  readonly delegation_ids: readonly string[];
}

/** Result of `applyChanges` and `undoChanges`. Unless it is `done`, no file was touched. */
export type ChangeResult =
  | {
      readonly state: 'done';
      readonly files: readonly ChangedFile[];
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

/** Returns all changes of a run as one patch, or the contradiction that prevents it. */
export async function diffRun(run: ChangedRun): Promise<string | ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  if (!(await exists(gitDir))) return '';
  const merged = await mergeChanges(run.home, run.run_id, run.delegation_ids);
  if (!merged.ok) return { state: 'conflict', with: merged.delegation_id, files: merged.files };
  return diffCommits(gitDir, baseRef, merged.commit);
}

/**
 * Brings the changes of a run into the user's folder, as changes that are not committed. What the user has changed since
 * the run began stays; where both changed the same lines, nothing is written. After a crash it continues.
 */
export async function applyChanges(run: ChangedRun): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  if (!(await exists(gitDir))) return { state: 'nothing' };
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
  const applied = (await exists(gitDir)) ? await readRef(gitDir, appliedRef) : null;
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
  const merged = await mergeChanges(run.home, run.run_id, run.delegation_ids);
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
