import { readdir, readFile, readlink } from 'node:fs/promises';
import { runCommand } from '../bootstrap/run-command.mjs';

/** The process that listens on a port. */
export interface PortHolder {
  readonly pid: number;
  /** Its command line, one entry per argument; on systems without /proc it is split at spaces. */
  readonly command: readonly string[];
}

/** The state LISTEN in /proc/net/tcp. */
const listenState = '0A';

/**
 * Finds the process that listens on a TCP port of this machine, if the system shows it.
 *
 * @returns undefined when there is none or it belongs to another user
 */
export async function findPortHolder(port: number): Promise<PortHolder | undefined> {
  const pid = process.platform === 'linux' ? await findPidInProc(port) : await findPidByLsof(port);
  return pid === undefined ? undefined : { pid, command: await readCommand(pid) };
}

/** @returns one phrase for a message, such as `process 4711 (node server.js)` */
export function describeHolder(holder: PortHolder | undefined): string {
  if (holder === undefined) return 'a process that this user may not look at';
  return `process ${holder.pid} (${holder.command.join(' ').slice(0, 120)})`;
}

/** @returns the value that follows `--name` or `--name=` on a command line */
export function optionOf(command: readonly string[], name: string): string | undefined {
  const joined = command.find((argument) => argument.startsWith(`--${name}=`));
  if (joined !== undefined) return joined.slice(name.length + 3);
  const index = command.indexOf(`--${name}`);
  return index === -1 ? undefined : command[index + 1];
}

async function findPidInProc(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const sockets = new Set(
    tables
      .flatMap((table) => table.split('\n').slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hexPort}`) && state === listenState)
      .map((columns) => `socket:[${columns[9]}]`),
  );
  if (sockets.size === 0) return undefined;
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await holdsSocket(name, sockets))) return Number(name);
  }
  return undefined;
}

async function holdsSocket(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(
    files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')),
  );
  return links.some((link) => sockets.has(link));
}

async function findPidByLsof(port: number): Promise<number | undefined> {
  const { output } = await runCommand('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t']);
  const pid = Number(output.split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

async function readCommand(pid: number): Promise<string[]> {
  const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (raw !== '') return raw.split('\0').filter((argument) => argument !== '');
  const { output } = await runCommand('ps', ['-o', 'args=', '-p', String(pid)]);
  return output.trim().split(/\s+/);
}
