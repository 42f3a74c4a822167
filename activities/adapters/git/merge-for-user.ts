import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangedFolder } from '../../ports/run-changes.ts';
import { commitTree } from './git-snapshots.ts';
import { mergeChanges, type MergedChanges } from './gather-changes.ts';
import { runGit } from './run-git.ts';
import { baseRef, repositoryOf } from './run-repository.ts';

/** A run whose changes can be taken over into the user's folder. */
export interface ChangedRun extends ChangedFolder {
  /** The artifact home, an absolute path. */
  readonly home: string;
}

/**
 * Merges the changes of a run that belong into the user's folder. The results folders of a plan's agents stay in the
 * worktrees, except those that the user had before the run.
 */
export async function mergeForUser(run: ChangedRun): Promise<MergedChanges> {
  const { home, run_id, delegation_ids, results_folders } = run;
  const merged = await mergeChanges(home, run_id, delegation_ids);
  if (!merged.ok || results_folders.length === 0) return merged;
  const gitDir = repositoryOf(home, run_id);
  const given = await listFiles(gitDir, baseRef, results_folders);
  const left = results_folders.filter(
    (folder) => !given.some((path) => path.startsWith(`${folder}/`)),
  );
  return { ok: true, commit: await removeFolders(gitDir, merged.commit, left) };
}

/** Returns a commit without the folders, on top of the given one; the given one if it has none of them. */
async function removeFolders(
  gitDir: string,
  commit: string,
  folders: readonly string[],
): Promise<string> {
  const paths = folders.length === 0 ? [] : await listFiles(gitDir, commit, folders);
  if (paths.length === 0) return commit;
  const indexFile = join(gitDir, `${randomUUID()}.index`);
  const place = { gitDir, indexFile };
  const none = '0'.repeat(40);
  try {
    await runGit(place, ['read-tree', commit]);
    await runGit(place, ['update-index', '-z', '--index-info'], {
      stdin: Buffer.from(paths.map((path) => `0 ${none}\t${path}\0`).join(''), 'latin1'),
    });
    const tree = (await runGit(place, ['write-tree'])).output.toString().trim();
    return await commitTree(gitDir, tree, [commit], 'without results');
  } finally {
    await rm(indexFile, { force: true });
    await rm(`${indexFile}.lock`, { force: true });
  }
}

/** Lists the files below folders of a commit, as bytes of any kind. */
async function listFiles(
  gitDir: string,
  commit: string,
  folders: readonly string[],
): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', commit, '--'];
  const { output } = await runGit({ gitDir }, [...args, ...folders.map((one) => `${one}/`)]);
  return output
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '');
}
