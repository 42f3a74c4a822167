import { existsSync } from 'node:fs';
import { cp, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../core/text/message-of.ts';
import { WorkspaceRefused, type WorkspacePlace, type Workspaces } from '../../ports/workspaces.ts';
import { toRunDirectory, treePaths } from '../../projection/paths.ts';
import { removeFolder } from '../file-store/atomic-write-file.ts';
import { getCode } from '../file-store/store-errors.ts';

/** Tries at a copy: other delegations write and remove files meanwhile. */
const copyTriesMax = 5;

/** Codes for what others do to the files meanwhile, and for what a command has closed. The cause of any other is the machine. */
const refusedCodes = new Set<string | null>(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

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
      for (let tries = 1; ; tries += 1) {
        try {
          // oxlint-disable-next-line no-await-in-loop
          await copyAnew(source, copy);
          return copy;
        } catch (error) {
          if (!refusedCodes.has(getCode(error))) throw error;
          if (tries < copyTriesMax) continue;
          throw new WorkspaceRefused(`The files could not be copied: ${messageOf(error)}`);
        }
      }
    },
    // The next copy removes what is left.
    dropOwn: (place) => removeFolder(copyOf(place)).catch(() => {}),
  };
}

async function copyAnew(source: string, copy: string): Promise<void> {
  await removeFolder(copy);
  await mkdir(copy, { recursive: true, mode: 0o700 });
  if (existsSync(source)) await copyFolder(source, copy);
}

/** Copies files, folders and links, which are not followed; pipes and sockets stay. */
export function copyFolder(source: string, target: string): Promise<void> {
  return cp(source, target, { recursive: true, verbatimSymlinks: true, filter: isKept });
}

async function isKept(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isFile() || found.isDirectory() || found.isSymbolicLink();
}
