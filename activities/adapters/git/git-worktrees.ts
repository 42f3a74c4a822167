import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { listNames } from '../../../core/text/list-names.ts';
import {
  WorkspaceRefused,
  type WorkspacePlace,
  type WorkspaceWorker,
} from '../../ports/workspaces.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import {
  changeOf,
  folderOf,
  forgetJoined,
  gatherChanges,
  joinTasks,
  leaveOut,
  listNewTasks,
  mergeChanges,
  trackedIn,
  type MergedChanges,
} from './gather-changes.ts';
import { diffCommits, listChangedFiles, shownPatchBytesMax } from './diff-commits.ts';
import { moveRef, readRef, restoreFolder, type TrackedFolder } from './git-snapshots.ts';
import { isLeftOut, listKept } from './ignored-files.ts';
import { baseRef, delegationRef, openRepository, repositoryOf } from './run-repository.ts';
import { putInPlace } from '../file-store/atomic-write-file.ts';

/** A worktree, and whose it is. */
interface Copy extends TrackedFolder {
  readonly run_id: string;
  readonly delegation_id: string;
}

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
    const isThere = existsSync(folder.workTree);
    if (!isThere) {
      await openRepository(home, run_id, dir);
      await startOf(home, run_id, worker);
    }
    await forgetJoined(folder.gitDir, worker.delegation_id);
    const tasks = await listNewTasks(folder.gitDir, tasksOf(worker));
    if (tasks.length > 0) await joinTasks(home, run_id, worker.delegation_id, tasks);
    if (!isThere) await checkOut(folder, (await changeOf(home, run_id, worker.delegation_id)).to);
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
      inCopy(place, ({ run_id, delegation_id }) =>
        diffOf(home, run_id, delegation_id, shownPatchBytesMax),
      ),
    gatherTasks: (place, unfinished) =>
      inTurn(place.run_id, () => gatherTasks(home, place, unfinished)),
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

/**
 * Returns what one delegation has changed with its team, as a patch; without a worktree it has changed nothing.
 *
 * @param bytesMax as for `diffCommits`.
 */
export async function diffOf(
  home: string,
  runId: string,
  delegationId: string,
  bytesMax?: number,
): Promise<string> {
  const gitDir = repositoryOf(home, runId);
  const { commit, taken } = await gatherChanges(home, runId, delegationId);
  const [first] = taken;
  if (commit === null || first === undefined) return '';
  const start = await readRef(gitDir, delegationRef('start', delegationId));
  return diffCommits(gitDir, start ?? first.from, commit, bytesMax);
}

/** Returns true for a delegation, or a task of a team, that has worked with files. */
export async function hasWorktree(home: string, runId: string, id: string): Promise<boolean> {
  return (await gatherChanges(home, runId, id)).commit !== null;
}

/** Lists the tasks of the delegation's own team among what it builds on. */
function tasksOf({ delegation_id, foundations }: WorkspaceWorker): readonly string[] {
  return foundations.filter((id) => id.startsWith(`${delegation_id}.`));
}

async function gatherTasks(
  home: string,
  { run_id, dir, worker }: WorkspacePlace,
  unfinished: readonly string[],
): Promise<void> {
  const gitDir = repositoryOf(home, run_id);
  if (dir === null || worker === undefined || !existsSync(gitDir)) return;
  const tasks = tasksOf(worker);
  await leaveOut(gitDir, unfinished, tasks);
  if ((await gatherChanges(home, run_id, worker.delegation_id)).commit === null) return;
  try {
    await startOf(home, run_id, worker);
  } catch (error) {
    // Its tasks build on less than it does.
    if (error instanceof WorkspaceRefused) return;
    throw error;
  }
  await joinTasks(home, run_id, worker.delegation_id, tasks);
}

/**
 * Returns the commit at which a worktree begins. It stays the same once it was chosen.
 *
 * @throws {WorkspaceRefused} when the changes that it builds on contradict each other.
 */
async function startOf(home: string, runId: string, worker: WorkspaceWorker): Promise<string> {
  const gitDir = repositoryOf(home, runId);
  const { delegation_id } = worker;
  const tasks = tasksOf(worker);
  const foundations = worker.foundations.filter((id) => !tasks.includes(id));
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

function refuseMerge(
  { delegation_id, files }: Extract<MergedChanges, { ok: false }>,
  foundations: readonly string[],
): WorkspaceRefused {
  const others = listNames(foundations.filter((id) => id !== delegation_id));
  return new WorkspaceRefused(
    `The workspace can't be prepared: ${listNames([delegation_id])} and ${others} changed the same lines of ${listNames(files)} in different ways. Try: report it in missing_info_requests, so that one of them is done again on top of the other.`,
  );
}
