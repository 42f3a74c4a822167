import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandRunner } from '../../ports/command-runner.ts';
import { bubblewrapCall, commandEnvironment, hostNameOf } from './bubblewrap.ts';
import type { SandboxSettings } from './bubblewrap.ts';
import { limitProcesses } from './limit-processes.ts';
import { runProcess } from './run-process.ts';

/**
 * Creates a runner that confines every command with bubblewrap.
 *
 * @param bwrap path of the program; it is not looked up again.
 */
export function createSandbox(settings: SandboxSettings, bwrap: string): CommandRunner {
  return {
    confined: true,
    run: async (command, signal) => {
      const { args, extra } = bubblewrapCall(command, settings);
      const limit = await limitProcesses();
      const called =
        limit === null ? { file: bwrap, args } : joinFirst(limit.joinFile, bwrap, args);
      // The sandbox's first process shows its environment to the others.
      const order = { ...command, ...called, extra, cwd: '/', env: {} };
      try {
        return await runProcess(order, signal);
      } finally {
        await limit?.remove();
      }
    },
    endLeftovers,
  };
}

/** Puts a process into a control group before it becomes the program. */
function joinFirst(joinFile: string, file: string, args: readonly string[]) {
  return { file: '/bin/sh', args: ['-c', 'echo $$ >"$0" && exec "$@"', joinFile, file, ...args] };
}

/** Creates a runner without a sandbox. The operator has allowed it, and a person approves each command. */
export function createUnconfinedRunner({ toolchains }: SandboxSettings): CommandRunner {
  return {
    confined: false,
    run: ({ argv: [file = '', ...args], ...command }, signal) => {
      const cwd = join(command.folder, command.cwd);
      const env = commandEnvironment(toolchains, tmpdir());
      return runProcess({ ...command, file, args, cwd, env }, signal);
    },
    endLeftovers: () => Promise.resolve(),
  };
}

/** Finds the sandboxes of a folder by their names, so that nothing has to be noted before a command starts. */
async function endLeftovers(folder: string): Promise<void> {
  const mark = ['', '--hostname', hostNameOf(folder), ''].join('\0');
  for (;;) {
    // Until none is left: a process is gone some time after it was killed.
    // oxlint-disable-next-line no-await-in-loop
    const pids = await findProcesses(mark);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
    // oxlint-disable-next-line no-await-in-loop
    await sleep(20);
  }
}

async function findProcesses(mark: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
        return line.includes(mark) ? [Number(name)] : [];
      }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
