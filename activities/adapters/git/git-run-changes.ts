import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { engineLimits } from '../../../core/limits.ts';
import { cutText } from '../../../core/text/cut-text.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { cutConflicts } from '../../../core/workspace/run-changes.ts';
import type { ChangedFolder, RunChanges } from '../../ports/run-changes.ts';
import { appliedCommit, applyChanges, findObstacle, type ChangeResult } from './apply-changes.ts';
import { commitApplied, findBranchFault } from './commit-changes.ts';
import { diffCommits, listChangedFiles, shownPatchBytesMax } from './diff-commits.ts';
import { mergeCommits, readRef, readTree, storeFolder } from './git-snapshots.ts';
import { findOpponents, gatherChanges } from './gather-changes.ts';
import { mergeForUser } from './merge-for-user.ts';
import { GitFailed, runGit, splitNul } from './run-git.ts';
import { baseRef, findGitDir, repositoryOf, userFolder } from './run-repository.ts';
import type {
  ApplyChangesResult,
  ChangeSize,
  DelegationChange,
  MergeConflict,
} from '../../../contracts/effect.ts';

/** @param options `home`: the artifact home, an absolute path. */
export function createRunChanges(options: { readonly home: string }): RunChanges {
  const home = resolve(options.home);
  const find = async <T>(
    { run_id }: ChangedFolder,
    work: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    if (!existsSync(repositoryOf(home, run_id))) return [];
    return orSay(work, () => []);
  };
  return {
    findConflicts: (folder) =>
      find(folder, async () => boundConflicts(await findConflicts(home, folder))),
    findTaskConflicts: (folder, team, unfinished) =>
      find(folder, async () =>
        boundConflicts((await gatherChanges(home, folder.run_id, team, unfinished)).left),
      ),
    measure: (folder) => find(folder, () => sizeDelegations(home, folder)),
    async propose(folder) {
      const gitDir = repositoryOf(home, folder.run_id);
      if (!existsSync(gitDir)) return null;
      const nothing = { files_total: 0, lines_added: 0, lines_removed: 0, files: [], patch: '' };
      const refused = { ...nothing, dir: folder.dir, delegations: [], can_commit: false };
      return orSay(
        () => sumUp(home, folder),
        (obstacle) => ({ ...refused, obstacle }),
      );
    },
    apply: (folder, commit) =>
      orSay<ApplyChangesResult>(
        async () => {
          const result = await applyChanges({ ...folder, home });
          if (result.state !== 'done' && result.state !== 'applied_before') {
            return { state: 'kept', note: describeObstacle(folder, result) };
          }
          if (commit === null) return { state: 'applied', note: '' };
          const gitDir = repositoryOf(home, folder.run_id);
          return commitApplied({ ...folder, home }, await appliedCommit(gitDir), commit);
        },
        (note) => ({ state: 'kept', note }),
      ),
  };
}

/** Merges one delegation after the other. One that contradicts those before it is left out of what the next is merged with. */
async function findConflicts(home: string, folder: ChangedFolder): Promise<MergeConflict[]> {
  const { run_id, delegation_ids } = folder;
  const gitDir = repositoryOf(home, run_id);
  const taken: { readonly delegation_id: string; readonly to: string }[] = [];
  const conflicts: MergeConflict[] = [];
  let merged = (await readRef(gitDir, baseRef)) ?? '';
  for (const delegation_id of delegation_ids) {
    /* oxlint-disable no-await-in-loop */
    const { commit: to } = await gatherChanges(home, run_id, delegation_id);
    if (to === null) continue;
    const both = await mergeCommits(gitDir, merged, to);
    if (both.ok) {
      merged = both.commit;
      taken.push({ delegation_id, to });
      continue;
    }
    const others = await findOpponents(gitDir, taken, to);
    conflicts.push({ delegation_id, with: others, files: both.files });
    /* oxlint-enable no-await-in-loop */
  }
  return conflicts;
}

/** Bounds what becomes part of prompts and histories. */
function boundConflicts(conflicts: readonly MergeConflict[]): MergeConflict[] {
  const max = engineLimits.mergeConflictsMax;
  return cutConflicts(conflicts, max).map((one) => ({
    ...one,
    with: one.with.slice(-max),
    files: one.files.slice(0, max).map((path) => cutText(path, 200)),
  }));
}

/** A call of git that failed is said to the user, who can do something about it; repeating it helps nobody. */
async function orSay<T>(work: () => Promise<T>, say: (said: string) => T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitFailed) return say(error.message);
    throw error;
  }
}

async function sumUp(home: string, folder: ChangedFolder): ReturnType<RunChanges['propose']> {
  const run = { ...folder, home };
  const { run_id, dir } = run;
  const gitDir = repositoryOf(home, run_id);
  const delegations = await sizeDelegations(home, folder);
  const merged = await mergeForUser(run);
  const obstacle = describeObstacle(folder, await findObstacle(run));
  if (!merged.ok) {
    const sums = { files_total: merged.files.length, lines_added: 0, lines_removed: 0 };
    return { ...sums, dir, files: [], delegations, patch: '', can_commit: false, obstacle };
  }
  const files = await listChangedFiles(gitDir, baseRef, merged.commit);
  if (files.length === 0) return null;
  return {
    ...(await sizeOf(gitDir, baseRef, merged.commit)),
    dir,
    files: files.slice(0, engineLimits.changedFilesShownMax),
    delegations,
    patch: await diffCommits(gitDir, baseRef, merged.commit, shownPatchBytesMax),
    can_commit: await isCleanBranch(home, folder),
    obstacle,
  };
}

/** Sizes of the changes of each delegation and of each task of a team. None is listed that changed nothing. */
async function sizeDelegations(
  home: string,
  { run_id, delegation_ids }: ChangedFolder,
): Promise<DelegationChange[]> {
  const gitDir = repositoryOf(home, run_id);
  const sized: DelegationChange[] = [];
  for (const id of delegation_ids) {
    // oxlint-disable-next-line no-await-in-loop
    for (const { delegation_id, from, to } of (await gatherChanges(home, run_id, id)).taken) {
      // oxlint-disable-next-line no-await-in-loop
      const size = await sizeOf(gitDir, from, to);
      if (size.files_total > 0) sized.push({ delegation_id, ...size });
    }
  }
  return sized;
}

async function sizeOf(gitDir: string, from: string, to: string): Promise<ChangeSize> {
  const args = ['diff-tree', '-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--numstat'];
  const lines = splitNul((await runGit({ gitDir }, [...args, '-z', from, to])).output);
  const numbers = lines.map((line) =>
    line
      .split('\t')
      .slice(0, 2)
      .map((n) => Number(n) || 0),
  );
  return {
    files_total: lines.length,
    lines_added: numbers.reduce((sum, [added = 0]) => sum + added, 0),
    lines_removed: numbers.reduce((sum, [, removed = 0]) => sum + removed, 0),
  };
}

/** Returns true for a branch whose newest commit has the very files of the folder. */
async function isCleanBranch(home: string, { run_id, dir }: ChangedFolder): Promise<boolean> {
  const gitDir = await findGitDir(dir);
  if (gitDir === null || (await findBranchFault(gitDir)) !== null) return false;
  // Trees are compared, because git's status would run the filters of the repository.
  const tree = await storeFolder(userFolder(repositoryOf(home, run_id), dir));
  return tree === (await readTree(gitDir, 'HEAD'));
}

function describeObstacle({ dir }: ChangedFolder, result: ChangeResult): string {
  switch (result.state) {
    case 'conflict': {
      const files = listNames(result.files);
      return result.with === null
        ? `${dir} and the run have different changes of ${files}.`
        : `${result.with} and the delegations before it have different changes of ${files}.`;
    }
    case 'in_the_way':
      return `Files that git ignores are in the way: ${listNames(result.files)}.`;
    case 'done':
    case 'nothing':
    case 'applied_before':
      return '';
  }
}
