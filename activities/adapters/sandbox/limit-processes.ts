import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLimits } from '../../../core/command-limits.ts';

/** A control group that bounds the processes of one command. */
export interface ProcessLimit {
  /** File that a process writes its id to in order to belong to the group. */
  readonly joinFile: string;
  remove(): Promise<void>;
}

/** Places of the controller: version 1, and version 2 where the root group hands it on. */
const versionOne = '/sys/fs/cgroup/pids';
const versionTwo = '/sys/fs/cgroup';

/** Time within which a command joins its group, with room for a machine that swaps. */
const joinMsMax = 10 * 60_000;

const noGroup = 'no control group bounds the processes of root';

/**
 * Creates a control group for a command of root, for whom `prlimit --nproc` does not hold.
 *
 * @returns null for other users, who need none.
 * @throws where the system allows no group: without one a command could start processes until the machine stands still.
 */
export async function limitProcesses(): Promise<ProcessLimit | null> {
  if (process.getuid?.() !== 0) return null;
  const root = await findController();
  if (root === null) throw new Error(noGroup);
  const group = join(root, `planwave-${Date.now()}-${randomUUID()}`);
  try {
    await mkdir(group);
    await writeFile(join(group, 'pids.max'), String(commandLimits.processesMax));
    return { joinFile: join(group, 'cgroup.procs'), remove: () => removeGroup(group) };
  } catch (error) {
    throw new Error(noGroup, { cause: error });
  }
}

/**
 * Removes the groups that killed workers have left behind. One that is in use stays, and so does a new one: another worker on
 * this machine may have created it for a command that has not joined it yet.
 */
export async function removeOldGroups(): Promise<void> {
  const root = await findController();
  if (root === null) return;
  const groups = (await readdir(root)).filter(isOldGroup);
  await Promise.all(groups.map((name) => rmdir(join(root, name)).catch(() => {})));
}

/** The name holds the time of creation, because the file system of control groups does not keep it. */
function isOldGroup(name: string): boolean {
  const created = /^planwave-(\d+)-/.exec(name)?.[1];
  return created !== undefined && Date.now() - Number(created) > joinMsMax;
}

async function findController(): Promise<string | null> {
  if ((await readText(join(versionOne, 'cgroup.procs'))) !== null) return versionOne;
  const handedOn = await readText(join(versionTwo, 'cgroup.subtree_control'));
  return handedOn?.split(/\s/).includes('pids') === true ? versionTwo : null;
}

function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

/** A group can be removed when its last process is gone, a moment after it was killed. */
async function removeGroup(group: string, triesLeft = 50): Promise<void> {
  try {
    await rmdir(group);
  } catch {
    if (triesLeft === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await removeGroup(group, triesLeft - 1);
  }
}
