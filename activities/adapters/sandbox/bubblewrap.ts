import { existsSync, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { commandLimits } from '../../../core/command-limits.ts';
import type { Command } from '../../ports/command-runner.ts';
import { hashBytes } from '../../text/bytes.ts';

/** Parts of the machine that commands may read, besides the system's programs. */
export interface SandboxSettings {
  /**
   * Absolute paths of toolchains outside `/usr`, which have the same paths inside. A folder is there as a whole; of the folder
   * around a program, such as `/opt/bin/node`, only what belongs to Node.
   */
  readonly toolchains: readonly string[];
  /** Names of folders in the user's folder that a worktree lacks because git ignores them, such as `node_modules`. */
  readonly sharedFolders: readonly string[];
}

/** Place of the folder inside: paths of the machine must not reach outputs, histories and prompts. */
const inside = '/workspace';

/** Links to folders of `/usr` on most systems, folders of their own on others. */
const systemFolders = ['/bin', '/sbin', '/lib', '/lib64'];

/** Files outside `/usr` without which common programs fail. None holds a secret. */
const systemFiles = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl/certs', '/etc/localtime'];

/** The environment of a command, and nothing else of the worker's. */
export function commandEnvironment(toolchains: readonly string[], home: string) {
  const folders = toolchains.map((path) => (isProgram(path) ? dirname(path) : join(path, 'bin')));
  return {
    PATH: [...folders, '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':'),
    HOME: home,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    CI: '1',
    NO_COLOR: '1',
    TERM: 'dumb',
  };
}

/**
 * Returns the call of `bwrap` for a command: no network, no process, capability or variable of the machine, and no file
 * but the system's programs, the toolchains (read-only) and the one folder.
 *
 * The sandbox's first process has the arguments of `bwrap`. They come through a descriptor, so that no path of the
 * machine can be read inside; the folder is known by a hash, its host name.
 */
export function bubblewrapCall(command: Command, settings: SandboxSettings) {
  return {
    args: [
      '--args',
      '3',
      '--hostname',
      hostNameOf(command.folder),
      '--',
      ...limitArguments(command),
      ...command.argv,
    ],
    extra: listArguments(command, settings).join('\0'),
  };
}

/** Returns the name of the sandbox of a folder, by which its processes are found. */
export function hostNameOf(folder: string): string {
  return `sandbox-${hashBytes(folder).slice(0, 12)}`;
}

function listArguments(command: Command, settings: SandboxSettings): string[] {
  const { toolchains } = settings;
  const variables = Object.entries(commandEnvironment(toolchains, '/tmp/home'));
  return [
    // Without the first one bwrap gives root no user namespace; --unshare-all only tries.
    ...'--unshare-user --unshare-all --disable-userns --die-with-parent --new-session'.split(' '),
    ...'--cap-drop ALL --clearenv'.split(' '),
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
    ...bindSystem(),
    ...`--proc /proc --dev /dev --size ${commandLimits.temporaryBytesMax} --tmpfs /tmp`.split(' '),
    ...'--dir /tmp/home'.split(' '),
    // After /tmp, below which a toolchain may be.
    ...toolchains.flatMap(bindToolchain),
    '--bind',
    command.folder,
    inside,
    ...listShared(command, settings).flatMap(([from, name]) => [
      '--ro-bind',
      from,
      posix.join(inside, name),
    ]),
    '--chdir',
    posix.join(inside, command.cwd),
  ];
}

/**
 * Sets the limits inside, where they count the sandbox's own processes. `--nproc` does not hold for root, who gets a
 * control group.
 */
function limitArguments({ timeoutMs }: Command): string[] {
  const { memoryBytesMax, fileBytesMax, processesMax, openFilesMax } = commandLimits;
  return [
    'prlimit',
    `--data=${memoryBytesMax}`,
    `--fsize=${fileBytesMax}`,
    `--nproc=${processesMax}`,
    `--nofile=${openFilesMax}`,
    // Each process for itself, so this only ends what nothing else does.
    `--cpu=${Math.ceil(timeoutMs / 1_000) + 1}`,
    '--core=0',
    '--',
  ];
}

/** Returns the arguments of `bwrap` that show the system's programs, read-only. */
export function bindSystem(): string[] {
  return [
    ...'--ro-bind /usr /usr'.split(' '),
    ...systemFolders.flatMap(bindSystemFolder),
    ...systemFiles.flatMap((path) => ['--ro-bind-try', path, path]),
  ];
}

function bindSystemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path];
}

/** @returns pairs of a path outside and a name inside. A name that the agent uses for something else is left to it. */
function listShared({ folder, sharedFrom }: Command, { sharedFolders }: SandboxSettings) {
  if (sharedFrom === null) return [];
  return sharedFolders.flatMap((name): [string, string][] => {
    const from = join(sharedFrom, name);
    const taken = lstatSync(join(folder, name), { throwIfNoEntry: false });
    const isFree = taken === undefined || taken.isDirectory();
    return isFree && existsSync(from) ? [[from, name]] : [];
  });
}

/**
 * Returns the program that this process runs on, when it is outside `/usr`. The folder above is not taken for its own: it is the
 * user's home where Node is in `~/bin`.
 */
export function ownToolchain(execPath = process.execPath): readonly string[] {
  const isShown = ['/usr', ...systemFolders].some((folder) => execPath.startsWith(`${folder}/`));
  return isShown ? [] : [execPath];
}

/** Returns the arguments of `bwrap` that show a toolchain, read-only. */
export function bindToolchain(path: string): string[] {
  if (!isProgram(path)) return ['--ro-bind', path, path];
  const bin = dirname(path);
  const prefix = dirname(bin);
  const packages = join(prefix, 'lib', 'node_modules');
  const parts = [path, packages, join(prefix, 'include', 'node')].filter((part) =>
    existsSync(part),
  );
  return [
    ...parts.flatMap((part) => ['--ro-bind', part, part]),
    ...linkPrograms(bin, `${packages}/`),
  ];
}

/** Links npm and other programs of packages as they are outside: they find their files from where the link leads. */
function linkPrograms(bin: string, packages: string): string[] {
  return readdirSync(bin, { withFileTypes: true }).flatMap((entry) => {
    const link = join(bin, entry.name);
    const target = entry.isSymbolicLink() ? readlinkSync(link) : '';
    return posix.resolve(bin, target).startsWith(packages) ? ['--symlink', target, link] : [];
  });
}

function isProgram(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // What can't be read is left to `bwrap`, which says so.
    return false;
  }
}

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
