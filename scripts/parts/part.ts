import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExpectedError } from '../bootstrap/expected-error.mjs';
import { lastLines } from '../bootstrap/run-command.mjs';
import { isAlive } from '../bootstrap/with-lock.mjs';

/** Command and environment of one process of planwave. */
interface PartOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** File for standard output and standard error; the log of an earlier process is kept as `.previous`. */
  readonly logFile: string;
  /** `node`: a script of ours, which reports over IPC that it is ready; `foreign`: any other program. */
  readonly kind: 'node' | 'foreign';
}

/** A child process. It ends when this process ends, even by kill -9. */
export interface Part {
  readonly pid: number;
  readonly logFile: string;
  /** The first message of a `node` part, which says that it is ready. Never settles when the part ends before that. */
  readonly firstMessage: Promise<unknown>;
  /** Cause of its end, such as `exit code 1` or `SIGKILL`. */
  readonly ended: Promise<string>;
  /** Stops it gently and does not restart it. */
  stop(graceMs: number): Promise<void>;
  /** Ends it at once. */
  kill(): void;
}

const guardScript = fileURLToPath(new URL('./guard.sh', import.meta.url));

/** Starts a process in a group of its own, so that Ctrl-C reaches only this process and parts are stopped in order. */
export function startPart(options: PartOptions): Part {
  const child = spawnWithLog(options);
  const { pid } = child;
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const signalGroup = (signal: NodeJS.Signals) => {
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // It ended a moment ago.
    }
  };
  return {
    pid: pid ?? -1,
    logFile: options.logFile,
    firstMessage: new Promise((resolve) => child.once('message', resolve)),
    ended,
    async stop(graceMs) {
      // A script of ours gets the signal alone: its helpers (the TypeScript loader's) must outlive its last step.
      if (options.kind === 'node') child.kill('SIGTERM');
      else signalGroup('SIGTERM');
      const force = setTimeout(() => signalGroup('SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
    kill: () => signalGroup('SIGKILL'),
  };
}

const logLinesShown = 15;

/** @returns the last lines of a part's log, for a message; empty when there is none */
export function logTail(logFile: string): string {
  return existsSync(logFile) ? lastLines(readFileSync(logFile, 'utf8'), logLinesShown) : '';
}

function spawnWithLog(options: PartOptions): ChildProcess {
  mkdirSync(dirname(options.logFile), { recursive: true, mode: 0o700 });
  if (existsSync(options.logFile)) renameSync(options.logFile, `${options.logFile}.previous`);
  const log = openSync(options.logFile, 'a');
  try {
    const common = { env: options.env, detached: process.platform !== 'win32' };
    if (options.kind === 'node') {
      return spawn(options.command, options.args, {
        ...common,
        stdio: ['ignore', log, log, 'ipc'],
      });
    }
    // A foreign program does not notice that this process has ended; the guard does, because its input ends.
    const guarded = process.platform !== 'win32' && existsSync('/bin/sh');
    const command = guarded ? '/bin/sh' : options.command;
    const args = guarded ? [guardScript, options.command, ...options.args] : options.args;
    return spawn(command, args, { ...common, stdio: ['pipe', log, log] });
  } finally {
    closeSync(log);
  }
}

interface NodePartOptions {
  /** Name of the part in messages and of its log file; `planwave <name>` runs it. */
  readonly name: 'worker' | 'rehearsal';
  readonly env: NodeJS.ProcessEnv;
  /** `PLANWAVE_HOME`; the log is in its `temporal` folder, which leaves the other names to runs. */
  readonly home: string;
}

/**
 * Takes a log file for the parts of this name that this process starts: `worker.log`, or `worker-2.log` while another process
 * that runs beside it in the same folder has the first. A file beside it names the process.
 */
export function takeLogFile(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let count = 1; ; count += 1) {
    const logFile = join(folder, count === 1 ? `${name}.log` : `${name}-${count}.log`);
    const owner = `${logFile}.pid`;
    const pid = existsSync(owner) ? Number(readFileSync(owner, 'utf8')) : 0;
    if (pid !== process.pid && pid > 0 && isAlive(pid)) continue;
    writeFileSync(owner, String(process.pid));
    return logFile;
  }
}

/** The one message that a part sends to its parent. */
const readyMessage = { type: 'ready' } as const;

/**
 * Starts a part of planwave as a process and waits until it reports that it is ready.
 *
 * @throws {ExpectedError} with the end of its log, when it ended before that
 */
export async function startNodePart(options: NodePartOptions): Promise<Part> {
  const script = fileURLToPath(new URL('../planwave.mjs', import.meta.url));
  const part = startPart({
    command: process.execPath,
    args: [script, options.name],
    env: options.env,
    logFile: takeLogFile(join(options.home, 'temporal'), options.name),
    kind: 'node',
  });
  const first = await Promise.race([
    part.firstMessage,
    part.ended.then((how) => ({ type: 'ended', how })),
  ]);
  if (isReadyMessage(first)) return part;
  throw new ExpectedError(
    `The ${options.name} did not start (${await part.ended}). The end of its log (${part.logFile}):\n${logTail(part.logFile)}`,
  );
}

/**
 * Tells the parent that this part is ready, and asks this process to end when the parent is gone. Does nothing when the
 * script was started by hand.
 */
export function announceReady(): void {
  if (process.send === undefined) return;
  if (!process.connected) {
    askSelfToEnd();
    return;
  }
  process.once('disconnect', askSelfToEnd);
  process.send(readyMessage);
}

function askSelfToEnd(): void {
  process.kill(process.pid, 'SIGTERM');
}

function isReadyMessage(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === readyMessage.type
  );
}
