import { spawn, type ChildProcess } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLimits } from '../../../core/command-limits.ts';
import {
  CommandNotStarted,
  type CommandEnd,
  type CommandEnding,
  type CommandRunner,
} from '../../ports/command-runner.ts';
import {
  bubblewrapCall,
  commandEnvironment,
  hostNameOf,
  type SandboxSettings,
  limitProcesses,
} from './bubblewrap.ts';

export interface ProcessOrder {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Text that the process can read from descriptor 3. If undefined, there is none. */
  readonly extra?: string;
  readonly timeoutMs: number;
  /** Folder whose disk is watched. */
  readonly folder: string;
  /** Most bytes by which the free space of that disk may shrink. If undefined, `commandLimits.diskBytesMax`. */
  readonly diskBytesMax?: number;
  /** Defined in Command. */
  readonly onTail?: ((read: () => string) => void) | undefined;
}

/** Numbers of the signals that end programs, as shells report them. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
};

/**
 * Runs a process in a group of its own and kills the group at a limit or when `signal` is aborted. The worker's
 * variables and descriptors are not passed on.
 *
 * @throws the reason of `signal`, and {CommandNotStarted} when the system can't run the file.
 */
export async function runProcess(order: ProcessOrder, signal: AbortSignal): Promise<CommandEnd> {
  signal.throwIfAborted();
  const startedAt = performance.now();
  const child = start(order);
  let ending: CommandEnding = 'exited';
  const end = (reason: CommandEnding): void => {
    if (ending === 'exited') ending = reason;
    killGroup(child);
  };
  const abort = (): void => killGroup(child);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => end('timeout'), order.timeoutMs);
  const output = collectOutput(child, () => end('output'));
  order.onTail?.(output.tail);
  give(child.stdin, order.stdin);
  if (order.extra !== undefined) give(child.stdio[3], order.extra);
  const unwatch = watchMachine(order, end);
  try {
    const exit_code = await waitForEnd(child);
    signal.throwIfAborted();
    return {
      ending,
      exit_code: ending === 'exited' ? exit_code : null,
      duration_ms: Math.round(performance.now() - startedAt),
      output: output.all(),
    };
  } finally {
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener('abort', abort);
    killGroup(child);
  }
}

/** @throws {CommandNotStarted} for what the system refuses at once, such as arguments that are too long. */
function start({ file, args, cwd, env, extra }: ProcessOrder): ChildProcess {
  const more = extra === undefined ? [] : ['pipe' as const];
  const stdio: 'pipe'[] = ['pipe', 'pipe', 'pipe', ...more];
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio });
  } catch (error) {
    throw new CommandNotStarted(error);
  }
}

function give(stream: ChildProcess['stdio'][number] | undefined, text: string): void {
  if (stream === null || stream === undefined || !('write' in stream)) return;
  // A command need not read what it is given.
  stream.on('error', () => {});
  stream.end(text);
}

/**
 * Watches what no limit of a process bounds: all files together, and the memory that is left to the worker.
 *
 * @returns ends the watch.
 */
function watchMachine(
  { folder, diskBytesMax = commandLimits.diskBytesMax }: ProcessOrder,
  onLimit: (ending: CommandEnding) => void,
): () => void {
  const { watchEveryMs, memoryLeftBytesMin } = commandLimits;
  const freeBefore = countFreeBytes(folder);
  const timer = setInterval(() => {
    if (freemem() < memoryLeftBytesMin) onLimit('memory');
    else if (freeBefore - countFreeBytes(folder) > diskBytesMax) onLimit('disk');
  }, watchEveryMs);
  return () => clearInterval(timer);
}

function countFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Kills the process and all that it started in its group. What is dead already stays dead. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

/** Output that has come until it is asked for: all of it, and its end. */
interface CollectedOutput {
  readonly all: () => string;
  readonly tail: () => string;
}

function collectOutput(child: ChildProcess, onFull: () => void): CollectedOutput {
  const { outputBytesMax, tailBytes } = commandLimits;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const add = (chunk: Buffer): void => {
    if (bytes < outputBytesMax) chunks.push(chunk.subarray(0, outputBytesMax - bytes));
    bytes += chunk.byteLength;
    if (bytes > outputBytesMax) onFull();
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return {
    all: () => Buffer.concat(chunks).toString('utf8'),
    tail() {
      const last: Buffer[] = [];
      let length = 0;
      for (let at = chunks.length - 1; at >= 0 && length < tailBytes; at -= 1) {
        const chunk = chunks[at] ?? Buffer.alloc(0);
        last.unshift(chunk);
        length += chunk.byteLength;
      }
      const text = Buffer.concat(last).subarray(-tailBytes).toString('utf8');
      if (bytes <= tailBytes) return text;
      // The first line may have lost its beginning; where there is no other, the first word.
      const first = text.includes('\n') ? text.indexOf('\n') : text.search(/\s/);
      return first < 0 ? '' : text.slice(first + 1);
    },
  };
}

/** @returns the exit code when the process has ended and its output is read. */
function waitForEnd(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(child.pid === undefined ? new CommandNotStarted(error) : error);
    });
    // A process that left the group may hold the output open: it is not waited for.
    child.once('exit', (code, signal) => {
      const done = (): void => resolve(code ?? 128 + (signalNumbers[signal ?? ''] ?? 0));
      const timer = setTimeout(done, commandLimits.outputWaitMs);
      child.once('close', () => {
        clearTimeout(timer);
        done();
      });
    });
  });
}

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
