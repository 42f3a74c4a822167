import { constants } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { type SandboxSettings, removeOldGroups } from './bubblewrap.ts';
import { createSandbox } from './command-runner.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/** Result of a trial command in the sandbox. */
export type SandboxProbe =
  | { readonly ok: true; readonly bwrap: string }
  | { readonly ok: false; readonly cause: string; readonly cure: string };

/** Messages of `bwrap`, each with its cause and its cure on the machine. */
const diagnoses: readonly (readonly [said: RegExp, cause: string, cure: string])[] = [
  [
    /Unknown option --disable-userns/,
    'bubblewrap is older than 0.8',
    'install bubblewrap 0.8.0 or newer (Debian 12, Ubuntu 24.04)',
  ],
  [
    /Creating new namespace failed|No permissions to create/,
    'the seccomp profile of a container, or a sysctl, forbids new namespaces',
    'start the container with --security-opt seccomp=unconfined, or run the worker on the host',
  ],
  [
    /Failed RTM_NEWADDR|setting up uid map: Permission denied/,
    'AppArmor restricts user namespaces (Ubuntu 23.10 and newer)',
    'load the AppArmor profile bwrap-userns-restrict (package apparmor-profiles)',
  ],
  [
    /setting up uid map: Operation not permitted/,
    'the worker runs as root without CAP_SETFCAP',
    'keep that capability, or run the worker as another user than root',
  ],
  [
    /Failed to make \/ slave: Permission denied/,
    'an AppArmor profile of the container forbids mounts',
    'use another profile, or run the worker on the host',
  ],
  [
    /Can't mount proc on/,
    'the container masks parts of /proc',
    'start the container with --security-opt systempaths=unconfined',
  ],
  [
    /no control group bounds/,
    'the worker runs as root, and no control group bounds its processes',
    'run the worker as another user than root, or let it write to /sys/fs/cgroup',
  ],
  [
    /execvp prlimit|prlimit: (?:not found|No such file)/,
    'the program prlimit is missing, which sets the limits of commands',
    'apt install util-linux',
  ],
];

const probeMs = 10_000;

/**
 * Looks for bubblewrap on the PATH and runs `true` with the arguments of every command.
 *
 * @param path default: the PATH of this process.
 */
export async function probeSandbox(
  settings: SandboxSettings,
  path = process.env['PATH'] ?? '',
): Promise<SandboxProbe> {
  const bwrap = await findProgram('bwrap', path);
  if (bwrap === null) {
    return { ok: false, cause: 'bubblewrap is not installed', cure: 'apt install bubblewrap' };
  }
  await removeOldGroups();
  const folder = await mkdtemp(join(tmpdir(), 'planwave-probe-'));
  const start = { folder, sharedFrom: null, cwd: '', stdin: '', timeoutMs: probeMs };
  try {
    const { exit_code, output } = await createSandbox(settings, bwrap).run(
      { ...start, argv: ['true'] },
      new AbortController().signal,
    );
    return exit_code === 0 ? { ok: true, bwrap } : diagnose(output);
  } catch (error) {
    return diagnose(messageOf(error));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findProgram(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    // oxlint-disable-next-line no-await-in-loop
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found && isAbsolute(file)) return file;
  }
  return null;
}

/** Explains a message of `bwrap`. */
export function diagnose(said: string): Extract<SandboxProbe, { ok: false }> {
  const [, cause, cure] = diagnoses.find(([pattern]) => pattern.test(said)) ?? [
    null,
    `bubblewrap failed: ${said.trim().slice(0, 500)}`,
    'run the worker where user namespaces work, such as directly on the host',
  ];
  return { ok: false, cause, cure };
}
