import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspacePlace, Workspaces } from '../../ports/workspaces.ts';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';

/** Returns the folder of a run without one of the user's. All its delegations share it. */
export function ownFolder(home: string, runId: string): string {
  return join(home, toRunDirectory(runId), treePaths.workspace);
}

/** Creates copies of runs' own folders, one for each delegation, in place of the worktree that it does not have. */
export function createOwnCopies(home: string): Pick<Workspaces, 'copyOwn' | 'dropOwn'> {
  const copyOf = ({ run_id, worker }: WorkspacePlace): string =>
    join(home, toRunDirectory(run_id), treePaths.worktree(worker?.delegation_id ?? 'check'));
  return {
    async copyOwn(place, free) {
      const [source, copy] = [ownFolder(home, place.run_id), copyOf(place)];
      await free(copy);
      await rm(copy, { recursive: true, force: true });
      await mkdir(copy, { recursive: true, mode: 0o700 });
      if (existsSync(source)) await copyFolder(source, copy);
      return copy;
    },
    dropOwn: (place) => rm(copyOf(place), { recursive: true, force: true }),
  };
}

/** Copies files, folders and links, which are not followed; pipes and sockets stay. */
export function copyFolder(source: string, target: string): Promise<void> {
  return cp(source, target, { recursive: true, verbatimSymlinks: true, filter: isKept });
}

async function isKept(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isFile() || found.isDirectory() || found.isSymbolicLink();
}
