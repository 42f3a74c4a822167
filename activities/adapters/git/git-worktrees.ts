import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { listNames } from '../../../core/text/list-names.ts';
import {
  WorkspaceRefused,
  type WorkspacePlace,
  type WorkspaceWorker,
} from '../../ports/workspaces.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import {
  commitTree,
  diffCommits,
  listChangedFiles,
  mergeCommits,
  moveRef,
  readRef,
  readRefs,
  restoreFolder,
  storeFolder,
  type Merged,
  type TrackedFolder,
} from './git-snapshots.ts';
import { isLeftOut, listKept } from './ignored-files.ts';
import { runGit } from './run-git.ts';
import {
  baseRef,
  delegationRef,
  openRepository,
  readDelegationRef,
  repositoryOf,
} from './run-repository.ts';
import { putInPlace } from '../file-store/atomic-write-file.ts';
import type { MergeConflict } from '../../../contracts/effect.ts';

/** A worktree, and whose it is. */
interface Copy extends TrackedFolder {
  readonly run_id: string;
  readonly delegation_id: string;
}

/** Merged changes of some delegations, or the first of them that contradicts those before it. */
export type MergedChanges =
  | { readonly ok: true; readonly commit: string }
  | { readonly ok: false; readonly delegation_id: string; readonly files: readonly string[] };

/**
 * Creates worktrees as plain folders with an index beside them. There is no `.git` in them, so an agent finds no
 * repository to change, and git finds one only where `runGit` names it.
 *
 * @param options `home`: the artifact home, an absolute path.
 */
export function createGitWorktrees(options: { readonly home: string }): Worktrees {
  const home = resolve(options.home);
  const open = async (place: WorkspacePlace): Promise<Copy | null> => {
    const { run_id, dir, worker } = place;
    if (dir === null || worker === undefined) return null;
    const folder = folderOf(home, run_id, worker.delegation_id);
    // It is made of the repository, and every call looks for it.
    if (!existsSync(folder.workTree)) {
      await openRepository(home, run_id, dir);
      await checkOut(folder, await startOf(home, run_id, worker));
    }
    return { ...folder, run_id, delegation_id: worker.delegation_id };
  };
  const inTurn = createTurns();
  /** Works on a copy, one call of a run after the other: the reads of one reply come at once. */
  const inCopy = <T>(place: WorkspacePlace, work: (copy: Copy) => Promise<T>): Promise<T | null> =>
    inTurn(place.run_id, async () => {
      const copy = await open(place);
      return copy === null ? null : work(copy);
    });
  return {
    open: (place) => inCopy(place, async ({ workTree }) => workTree),
    leavesOut: (place, path) => inCopy(place, (copy) => isLeftOut(copy, path)),
    listKept: (place) => inCopy(place, listKept),
    keep: (place) =>
      inCopy(place, async ({ run_id, delegation_id }) => {
        const { to } = await changeOf(home, run_id, delegation_id);
        return to;
      }),
    startOf: (place) =>
      inCopy(place, (at) => readRef(at.gitDir, delegationRef('start', at.delegation_id))),
    restore: async (place, commit) => {
      await inCopy(place, (copy) => restoreFolder(copy, commit));
    },
    listChanges: (place) =>
      inCopy(place, async ({ gitDir, run_id, delegation_id }) => {
        const { from, to } = await changeOf(home, run_id, delegation_id);
        return listChangedFiles(gitDir, from, to);
      }),
    listTouched: (place) =>
      inCopy(place, async ({ gitDir, run_id, delegation_id }) => {
        const { to } = await changeOf(home, run_id, delegation_id);
        return listChangedFiles(gitDir, baseRef, to);
      }),
    diff: (place) =>
      inCopy(place, ({ run_id, delegation_id }) => diffOf(home, run_id, delegation_id)),
  };
}

/** Returns a function that does the work of one key in turn, whether the work before it succeeded or not. */
function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const done = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, done);
    try {
      return await done;
    } finally {
      if (last.get(key) === done) last.delete(key);
    }
  };
}

/** Returns what one delegation has changed, as a patch; without a worktree it has changed nothing. */
export async function diffOf(home: string, runId: string, delegationId: string): Promise<string> {
  const { from, to } = await changeOf(home, runId, delegationId);
  return diffCommits(repositoryOf(home, runId), from, to);
}

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
 * before it is left out: its leader was told, and had what is missing done again on top of them.
 */
export async function gatherChanges(
  home: string,
  runId: string,
  delegationId: string,
): Promise<GatheredChanges> {
  const gitDir = repositoryOf(home, runId);
  let commit: string | null = null;
  const taken: TakenChange[] = [];
  const left: MergeConflict[] = [];
  for (const delegation_id of await listWorktrees(gitDir, delegationId)) {
    /* oxlint-disable no-await-in-loop */
    const { from, to } = await changeOf(home, runId, delegation_id);
    const merged: Merged =
      commit === null ? { ok: true, commit: to } : await mergeCommits(gitDir, commit, to);
    if (merged.ok) {
      ({ commit } = merged);
      taken.push({ delegation_id, from, to });
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

/** Lists the worktrees of a delegation and of its team's tasks, `d2` before `d10`. */
async function listWorktrees(gitDir: string, delegationId: string): Promise<string[]> {
  const own = delegationRef('start', delegationId);
  const format = ['--format=%(refname)', '--sort=version:refname'];
  const args = ['for-each-ref', ...format, own, `${own}+*`];
  const refs = (await runGit({ gitDir }, args)).output.toString().split('\n');
  return refs.filter((ref) => ref !== '').map(readDelegationRef);
}

/**
 * Returns the commit at which a worktree begins. It stays the same once it was chosen.
 *
 * @throws {WorkspaceRefused} when the changes that it builds on contradict each other.
 */
async function startOf(
  home: string,
  runId: string,
  { delegation_id, foundations }: WorkspaceWorker,
): Promise<string> {
  const gitDir = repositoryOf(home, runId);
  const ref = delegationRef('start', delegation_id);
  const chosen = await readRef(gitDir, ref);
  if (chosen !== null) return chosen;
  const merged = await mergeChanges(home, runId, foundations);
  if (!merged.ok) throw refuseMerge(merged, foundations);
  await moveRef(gitDir, ref, merged.commit, null);
  return merged.commit;
}

/** Makes the folder under another name first, so that it is there as a whole or not at all. */
async function checkOut({ gitDir, workTree }: TrackedFolder, commit: string): Promise<void> {
  const place = dirname(workTree);
  const made = `${place}.${randomUUID()}`;
  try {
    const folder = trackedIn(gitDir, made);
    await mkdir(folder.workTree, { recursive: true, mode: 0o700 });
    await restoreFolder(folder, commit, true);
    await putInPlace(made, place);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/**
 * Keeps the present files of a worktree as a commit. Returns the commits before and after the delegation's work; null for a
 * delegation without a worktree.
 */
async function keepCopy(home: string, runId: string, delegationId: string) {
  const folder = folderOf(home, runId, delegationId);
  const { gitDir } = folder;
  const startRef = delegationRef('start', delegationId);
  const endRef = delegationRef('end', delegationId);
  const isThere = existsSync(folder.workTree);
  const [refs, tree] = await Promise.all([
    readRefs(gitDir, [startRef, endRef]),
    isThere ? storeFolder(folder, { keepsResults: true }) : null,
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

function folderOf(home: string, runId: string, delegationId: string): TrackedFolder {
  const root = join(home, toRunDirectory(runId), treePaths.worktree(delegationId));
  return trackedIn(repositoryOf(home, runId), root);
}

function trackedIn(gitDir: string, root: string): TrackedFolder {
  return { gitDir, workTree: join(root, treePaths.worktreeFiles), indexFile: join(root, 'index') };
}

function refuseMerge(
  { delegation_id, files }: Extract<MergedChanges, { ok: false }>,
  foundations: readonly string[],
): WorkspaceRefused {
  const others = listNames(foundations.filter((id) => id !== delegation_id));
  return new WorkspaceRefused(
    `The workspace can't be prepared: ${listNames([delegation_id])} and ${others} changed the same lines of ${listNames(files)} in different ways. Try: report it in missing_info_requests, so that one of them is done again on top of the other.`,
  );
}
