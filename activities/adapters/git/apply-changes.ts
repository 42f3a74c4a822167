import { existsSync } from 'node:fs';
import type { FileChange } from '../../../contracts/effect.ts';
import { changeFolder, findInTheWay } from './change-folder.ts';
import { commitUndone, type UndoneCommit } from './commit-changes.ts';
import { diffCommits, listChangedFiles } from './diff-commits.ts';
import {
  commitTree,
  deleteRef,
  mergeCommits,
  moveRef,
  readRef,
  readTree,
  storeFolder,
  type Merged,
} from './git-snapshots.ts';
import { mergeForUser, type ChangedRun } from './merge-for-user.ts';
import { baseRef, repositoryOf, userFolder } from './run-repository.ts';

/** Result of `applyChanges` and `undoChanges`. Unless it is `done`, no file was touched. */
export type ChangeResult =
  | {
      readonly state: 'done';
      readonly files: readonly FileChange[];
      /** Fate of the commit of the run, after `undoChanges`. Absent when it made none. */
      readonly commit?: UndoneCommit;
    }
  | { readonly state: 'nothing' }
  /** All of them were applied before, and not undone. */
  | { readonly state: 'applied_before' }
  /** `with`: the delegation whose changes contradict the others, or null for the folder's own. */
  | { readonly state: 'conflict'; readonly with: string | null; readonly files: readonly string[] }
  /** Files that git ignores stand where files of the run belong, or would go with a folder that the run replaced. */
  | { readonly state: 'in_the_way'; readonly files: readonly string[] };

/**
 * Ref of the folder with the changes. Its parents are the folder without any change of the run, the changes that it has, and
 * the folder that they were brought into, which may have had some of them. `applying` until every file is written.
 */
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
 * the run began stays; where both changed the same lines, nothing is written. After a crash it continues. Changes that the run
 * has made since an earlier call come on top of it.
 */
export async function applyChanges(run: ChangedRun): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  if (!existsSync(gitDir)) return { state: 'nothing' };
  const begun = await readBegun(gitDir);
  const finished = begun === null ? null : await bringIn(run, begun, begun);
  if (finished !== null && finished.state !== 'done') return finished;
  const target = await findTarget(run, gitDir);
  if (typeof target === 'string') return bringIn(run, target, null);
  return finished !== null && target.state === 'applied_before' ? finished : target;
}

/** @returns the commit of an attempt that was killed before all of its files were written. */
async function readBegun(gitDir: string): Promise<string | null> {
  const begun = await readRef(gitDir, applyingRef);
  if (begun === null || begun !== (await readRef(gitDir, appliedRef))) return begun;
  // It was killed at its very end.
  await deleteRef(gitDir, applyingRef);
  return null;
}

async function bringIn(
  run: ChangedRun,
  target: string,
  begun: string | null,
): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  const before = await readRef(gitDir, appliedRef);
  await moveRef(gitDir, applyingRef, target, begun);
  const result = await bringTo(run, `${target}^3`, target);
  if (result.state === 'done') await moveRef(gitDir, appliedRef, target, before);
  await deleteRef(gitDir, applyingRef);
  return result;
}

/** Returns what would keep `applyChanges` from bringing the changes into the folder as it is now. */
export async function findObstacle(run: ChangedRun): Promise<ChangeResult> {
  const gitDir = repositoryOf(run.home, run.run_id);
  const target = await findTarget(run, gitDir);
  if (typeof target !== 'string') return target;
  const files = await findInTheWay(userFolder(gitDir, run.dir), `${target}^3`, target);
  return files.length > 0 ? { state: 'in_the_way', files } : { state: 'done', files: [] };
}

/** Returns the commit of the folder with the changes, if they are in it; its first parent is the folder without them. */
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
  if (!existsSync(gitDir)) return { state: 'nothing' };
  const begun = await readBegun(gitDir);
  const finished = begun === null ? null : await bringIn(run, begun, begun);
  if (finished !== null && finished.state !== 'done') return finished;
  const applied = await readRef(gitDir, appliedRef);
  if (applied === null) return { state: 'nothing' };
  const before = await commitTree(gitDir, await readTree(gitDir, `${applied}^`), [applied], 'undo');
  const result = await bringTo(run, applied, before);
  if (result.state !== 'done') return result;
  const commit = await commitUndone(run, { applied, before }, at);
  await deleteRef(gitDir, appliedRef);
  return { ...result, ...(commit !== null && { commit }) };
}

/** Returns the commit of the folder as it is, with the run's changes on top of it that it does not have yet. */
async function findTarget(run: ChangedRun, gitDir: string): Promise<string | ChangeResult> {
  const merged = await mergeForUser(run);
  if (!merged.ok) return { state: 'conflict', with: merged.delegation_id, files: merged.files };
  const applied = await readRef(gitDir, appliedRef);
  const had = applied === null ? baseRef : `${applied}^2`;
  const wanted = await readTree(gitDir, merged.commit);
  if (applied !== null && wanted === (await readTree(gitDir, had)))
    return { state: 'applied_before' };
  const tree = await storeFolder(userFolder(gitDir, run.dir));
  const now = await commitTree(gitDir, tree, [had], 'folder');
  const changes = await commitTree(gitDir, wanted, [had], 'changes');
  const both = await mergeCommits(gitDir, now, changes);
  if (!both.ok) return { state: 'conflict', with: null, files: both.files };
  const target = await readTree(gitDir, both.commit);
  if (applied === null && target === tree) return { state: 'nothing' };
  const without = await takeOut(gitDir, tree, applied);
  if (!without.ok) return { state: 'conflict', with: null, files: without.files };
  return commitTree(gitDir, target, [without.commit, changes, now], 'apply');
}

/** Returns a commit of a tree of the user's folder without the changes that were applied to it, for a later undo. */
async function takeOut(gitDir: string, tree: string, applied: string | null): Promise<Merged> {
  if (applied === null) {
    return { ok: true, commit: await commitTree(gitDir, tree, [baseRef], 'before') };
  }
  const now = await commitTree(gitDir, tree, [applied], 'folder');
  const before = await commitTree(gitDir, await readTree(gitDir, `${applied}^`), [applied], 'undo');
  return mergeCommits(gitDir, now, before);
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
