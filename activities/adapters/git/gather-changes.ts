import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MergeConflict } from '../../../contracts/effect.ts';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import {
  commitTree,
  deleteRef,
  mergeCommits,
  moveRef,
  readRef,
  readRefs,
  restoreFolder,
  storeFolder,
  type Merged,
  type TrackedFolder,
} from './git-snapshots.ts';
import { runGit } from './run-git.ts';
import { baseRef, delegationRef, readDelegationRef, repositoryOf } from './run-repository.ts';

/** Merged changes of some delegations, or the first of them that contradicts those before it. */
export type MergedChanges =
  | { readonly ok: true; readonly commit: string }
  | { readonly ok: false; readonly delegation_id: string; readonly files: readonly string[] };

/** Returns the commits before and after a delegation's work; without a worktree both are the run's base. */
export async function changeOf(home: string, runId: string, delegationId: string) {
  const gitDir = repositoryOf(home, runId);
  const kept = await keepCopy(home, runId, delegationId);
  if (kept !== null) return kept;
  const base = (await readRef(gitDir, baseRef)) ?? '';
  return { from: base, to: base };
}

/**
 * Merges the changes of delegations, one after the other, with those of their teams' tasks. A delegation without a
 * worktree has changed nothing.
 */
export async function mergeChanges(
  home: string,
  runId: string,
  delegationIds: readonly string[],
): Promise<MergedChanges> {
  const gitDir = repositoryOf(home, runId);
  let commit = (await readRef(gitDir, baseRef)) ?? '';
  for (const delegation_id of delegationIds) {
    // Each merge builds on the one before.
    // oxlint-disable-next-line no-await-in-loop
    const theirs = await gatherChanges(home, runId, delegation_id);
    if (theirs.commit === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    const merged = await mergeCommits(gitDir, commit, theirs.commit);
    if (!merged.ok) return { ok: false, delegation_id, files: merged.files };
    ({ commit } = merged);
  }
  return { ok: true, commit };
}

export interface GatheredChanges {
  /** Null without a worktree. */
  readonly commit: string | null;
  /** Worktrees whose changes are in it: its own and those of its team's tasks. */
  readonly taken: readonly TakenChange[];
  /** Tasks whose changes are not in it, because they contradict those before them. */
  readonly left: readonly MergeConflict[];
}

export interface TakenChange {
  readonly delegation_id: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Merges the changes of a delegation and of its team's tasks, by their names. A task that changed the same lines as those
 * before it is left out: its leader was told, and had what is missing done again on top of them. So is one that did not
 * complete.
 *
 * @param unfinished tasks that `leaveOut` does not know yet.
 */
export async function gatherChanges(
  home: string,
  runId: string,
  delegationId: string,
  unfinished: readonly string[] = [],
): Promise<GatheredChanges> {
  const gitDir = repositoryOf(home, runId);
  const changes: TakenChange[] = [];
  for (const delegation_id of await listWorktrees(gitDir, delegationId, unfinished)) {
    // oxlint-disable-next-line no-await-in-loop
    changes.push({ delegation_id, ...(await changeOf(home, runId, delegation_id)) });
  }
  let commit: string | null = null;
  const taken: TakenChange[] = [];
  const left: MergeConflict[] = [];
  for (const change of changes) {
    const { delegation_id, to } = change;
    /* oxlint-disable no-await-in-loop */
    const merged: Merged =
      commit === null ? { ok: true, commit: to } : await mergeCommits(gitDir, commit, to);
    if (merged.ok) {
      ({ commit } = merged);
      taken.push(await withoutTasks(gitDir, change, changes));
    } else {
      left.push({
        delegation_id,
        with: await findOpponents(gitDir, taken, to),
        files: merged.files,
      });
    }
    /* oxlint-enable no-await-in-loop */
  }
  return { commit, taken, left };
}

/** Lets a change begin after those of the delegation's own tasks that came into its copy: they are listed themselves. */
async function withoutTasks(
  gitDir: string,
  own: TakenChange,
  changes: readonly TakenChange[],
): Promise<TakenChange> {
  let { from } = own;
  for (const { delegation_id, to } of changes) {
    if (!delegation_id.startsWith(`${own.delegation_id}.`)) continue;
    /* oxlint-disable no-await-in-loop */
    const joined = await mergeCommits(gitDir, own.to, to);
    if (!joined.ok || joined.commit !== own.to) continue;
    const merged = await mergeCommits(gitDir, from, to);
    if (merged.ok) from = merged.commit;
    /* oxlint-enable no-await-in-loop */
  }
  return { ...own, from };
}

/** Returns those that a commit contradicts; all of them when it only contradicts their sum. */
export async function findOpponents(
  gitDir: string,
  taken: readonly Pick<TakenChange, 'delegation_id' | 'to'>[],
  commit: string,
): Promise<string[]> {
  const each = await Promise.all(taken.map(({ to }) => mergeCommits(gitDir, to, commit)));
  const found = taken.filter((_one, at) => each[at]?.ok === false);
  return (found.length > 0 ? found : taken).map(({ delegation_id }) => delegation_id);
}

/** Lists the worktrees of a delegation and of its team's completed tasks, `d2` before `d10`. */
async function listWorktrees(
  gitDir: string,
  delegationId: string,
  unfinished: readonly string[],
): Promise<string[]> {
  const own = delegationRef('start', delegationId);
  const left = delegationRef('left', delegationId);
  const format = ['--format=%(refname)', '--sort=version:refname'];
  const args = ['for-each-ref', ...format, own, `${own}+*`, `${left}+*`];
  const refs = (await runGit({ gitDir }, args)).output.toString().split('\n');
  const [isLeft, isStart] = [left, own].map((ref) => (one: string) => one.startsWith(ref));
  const out = [...unfinished, ...refs.filter((ref) => isLeft?.(ref)).map(readDelegationRef)];
  return refs
    .filter((ref) => isStart?.(ref))
    .map(readDelegationRef)
    .filter((id) => !out.some((one) => id === one || id.startsWith(`${one}.`)));
}

/** Notes which tasks' changes count no more, with those of their own tasks, and which do. */
export async function leaveOut(
  gitDir: string,
  unfinished: readonly string[],
  completed: readonly string[],
): Promise<void> {
  const known = await readRefs(gitDir, [
    ...refsOf('start', unfinished),
    ...refsOf('left', [...unfinished, ...completed]),
  ]);
  for (const id of unfinished) {
    const start = known.get(delegationRef('start', id));
    const left = delegationRef('left', id);
    // oxlint-disable-next-line no-await-in-loop
    if (start !== undefined && !known.has(left)) await moveRef(gitDir, left, start.commit, null);
  }
  // A run that was reset does a task again.
  for (const left of refsOf('left', completed)) {
    // oxlint-disable-next-line no-await-in-loop
    if (known.has(left)) await deleteRef(gitDir, left);
  }
}

function refsOf(kind: 'start' | 'left' | 'joined', ids: readonly string[]): string[] {
  return ids.map((id) => delegationRef(kind, id));
}

/** Lists the tasks whose changes were not brought into the copy of their delegation yet. */
export async function listNewTasks(gitDir: string, tasks: readonly string[]): Promise<string[]> {
  if (tasks.length === 0) return [];
  const known = await readRefs(gitDir, refsOf('joined', tasks));
  return tasks.filter((id) => !known.has(delegationRef('joined', id)));
}

/**
 * Lets the changes of a task, and of each task that it is a part of, count as new: it may be at work once more, in a run that
 * was reset. To bring in again what did not change does nothing.
 */
export async function forgetJoined(gitDir: string, delegationId: string): Promise<void> {
  const parts = delegationId.split('.');
  const tasks = parts.map((_part, at) => parts.slice(0, at + 1).join('.')).slice(1);
  if (tasks.length === 0) return;
  for (const ref of (await readRefs(gitDir, refsOf('joined', tasks))).keys()) {
    // oxlint-disable-next-line no-await-in-loop
    await deleteRef(gitDir, ref);
  }
}

/**
 * Brings the changes of a team's tasks into the copy of its delegation, so that its leader, a verifier and a further attempt
 * work with them. One that contradicts what is there is left out.
 */
export async function joinTasks(
  home: string,
  runId: string,
  delegationId: string,
  tasks: readonly string[],
): Promise<void> {
  const folder = folderOf(home, runId, delegationId);
  const { gitDir } = folder;
  const own = await keepCopy(home, runId, delegationId);
  if (own === null) return;
  let commit = own.to;
  for (const task of tasks) {
    /* oxlint-disable no-await-in-loop */
    const theirs = await gatherChanges(home, runId, task);
    if (theirs.commit === null) continue;
    const merged = await mergeCommits(gitDir, commit, theirs.commit);
    if (merged.ok) ({ commit } = merged);
    /* oxlint-enable no-await-in-loop */
  }
  if (commit !== own.to) {
    // Files first: a crash in between leaves changes that the next merge finds on both sides.
    if (existsSync(folder.workTree)) await restoreFolder(folder, commit, true);
    const end = delegationRef('end', delegationId);
    await moveRef(gitDir, end, commit, await readRef(gitDir, end));
  }
  for (const task of await listNewTasks(gitDir, tasks)) {
    // oxlint-disable-next-line no-await-in-loop
    await moveRef(gitDir, delegationRef('joined', task), commit, null);
  }
}

/**
 * Keeps the present files of a worktree as a commit. Returns the commits before and after the delegation's work; null for a
 * delegation without a worktree.
 */
async function keepCopy(home: string, runId: string, delegationId: string) {
  const folder = folderOf(home, runId, delegationId);
  const { gitDir } = folder;
  const [startRef, endRef] = [
    delegationRef('start', delegationId),
    delegationRef('end', delegationId),
  ];
  const isThere = existsSync(folder.workTree);
  const [refs, tree] = await Promise.all([
    readRefs(gitDir, [startRef, endRef]),
    isThere ? storeFolder(folder, { isCopy: true }) : null,
  ]);
  const start = refs.get(startRef);
  if (start === undefined) return null;
  const end = refs.get(endRef);
  const last = end ?? start;
  if (tree === null || tree === last.tree) return { from: start.commit, to: last.commit };
  const commit = await commitTree(gitDir, tree, [last.commit], delegationId);
  await moveRef(gitDir, endRef, commit, end?.commit ?? null);
  return { from: start.commit, to: commit };
}

export function folderOf(home: string, runId: string, delegationId: string): TrackedFolder {
  const root = join(home, toRunDirectory(runId), treePaths.worktree(delegationId));
  return trackedIn(repositoryOf(home, runId), root);
}

export function trackedIn(gitDir: string, root: string): TrackedFolder {
  return { gitDir, workTree: join(root, treePaths.worktreeFiles), indexFile: join(root, 'index') };
}
