import { quoteWord } from '../../core/text/format.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { connectFailure, loadServerConfig } from '../../client/connect.ts';
import { ExpectedError } from '../bootstrap/expected-error.mjs';
import { runCommand } from '../bootstrap/run-command.mjs';
import { webUiDistance, type Settings } from '../parts/settings.ts';
import { dbFileOf, registerSearchAttributes } from './server-arguments.ts';
import { connectTo, findFreePort, isListening, localHost, probePort } from './temporal-probe.ts';

/** Ports of this home's server, so that a later command with other ports finds it. */
interface ServerRecord {
  readonly temporal_port: number;
  readonly ui_port: number;
}

/**
 * Records the ports once the server is ready. The record may outlive the server: readers check which process holds the
 * port.
 */
export function recordServer(settings: Settings): void {
  const record: ServerRecord = { temporal_port: settings.temporalPort, ui_port: settings.uiPort };
  writeFileSync(recordPath(settings), `${JSON.stringify(record)}\n`);
}

/** @returns undefined when no server was ever started for this home, or the record is broken */
function readServerRecord(settings: Pick<Settings, 'home'>): ServerRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(recordPath(settings), 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ServerRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!('temporal_port' in value) || !('ui_port' in value)) return false;
  return Number.isInteger(value.temporal_port) && Number.isInteger(value.ui_port);
}

function recordPath(settings: Pick<Settings, 'home'>): string {
  return join(settings.home, 'temporal', 'server.json');
}

/** Address of a server that answers. */
export interface Reachable {
  /** `host:port`. */
  readonly address: string;
  /** Undefined when the address of the server's Web UI is unknown. */
  readonly uiUrl: string | undefined;
}

/**
 * Looks for a running server: the one in the environment, this home's own on any port, or a Temporal server on the
 * port. Registers planwave's search attributes there and says what it found.
 *
 * @returns undefined when there is none and the port is free
 * @throws {ExpectedError} when the named server does not answer, or another program or another home holds the port
 */
export async function findRunningServer(
  settings: Settings,
  say: (line: string) => void,
): Promise<Reachable | undefined> {
  if (settings.temporalAddressGiven !== undefined) {
    return useGivenServer(settings, settings.temporalAddressGiven, say);
  }
  const port = (await ownServerPort(settings)) ?? settings.temporalPort;
  const answer = await probePort(port);
  if (answer === 'free') return undefined;
  if (answer === 'other') {
    await refuseTakenPort(port, 'PLANWAVE_TEMPORAL_PORT', 'the Temporal dev server');
    // The program ended during the check.
    return undefined;
  }
  say(await refuseOtherHome(settings, port));
  const holder = await findPortHolder(port);
  const address = `${localHost}:${port}`;
  await register(address, say);
  const uiPort = Number(optionOf(holder?.command ?? [], 'ui-port') ?? settings.uiPort);
  return { address, uiUrl: await uiUrlOf(uiPort) };
}

/**
 * @param variable the environment variable that chooses another port
 * @param what purpose of the port
 * @throws {ExpectedError} when a process listens on the port
 */
export async function refuseTakenPort(port: number, variable: string, what: string): Promise<void> {
  if (!(await isListening(localHost, port))) return;
  const holder = await findPortHolder(port);
  throw new ExpectedError(
    [
      `Port ${port}, wanted for ${what}, is taken by ${describeHolder(holder)}, which ${describeUse(holder, port)}.`,
      `What to do: end that process, or choose another port: ${variable}=${await findPortPair(port)}`,
      'or use a Temporal server that runs elsewhere: TEMPORAL_ADDRESS=host:7233',
    ].join('\n'),
  );
}

/** Says what a process does with a port. Two servers whose ports are 1,000 apart want one port: one for gRPC, one for its Web UI. */
function describeUse(holder: PortHolder | undefined, port: number): string {
  const command = holder?.command ?? [];
  if (!command.includes('start-dev')) return 'is not Temporal';
  return optionOf(command, 'ui-port') === String(port)
    ? 'shows its Web UI there'
    : 'serves workers there';
}

/** Finds a port above another that is free, together with the one for its Web UI. */
async function findPortPair(port: number): Promise<number> {
  for (let next = port + 100; next + webUiDistance <= 65_535; next += 100) {
    const taken = [isListening(localHost, next), isListening(localHost, next + webUiDistance)];
    // One after the other: the first free one is enough.
    // oxlint-disable-next-line no-await-in-loop
    if (!(await Promise.all(taken)).includes(true)) return next;
  }
  return findFreePort();
}

async function useGivenServer(
  settings: Settings,
  address: string,
  say: (line: string) => void,
): Promise<Reachable> {
  try {
    await (await connectTo(address)).close();
  } catch (error) {
    const { message } = await connectFailure(loadServerConfig({ address }), error);
    throw new ExpectedError(
      `TEMPORAL_ADDRESS (or the Temporal configuration file) names ${address}, but no Temporal server answers there.\n` +
        `${message}\nWithout an address planwave starts its own server.`,
    );
  }
  say(`Using the Temporal server at ${address}, which the environment names.`);
  await register(address, say);
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\]):/.test(address);
  return { address, uiUrl: isLocal ? await uiUrlOf(settings.uiPort) : undefined };
}

/**
 * Returns the port of this home's own server when it runs on another one: two servers would destroy the shared
 * database.
 */
async function ownServerPort(settings: Settings): Promise<number | undefined> {
  const record = readServerRecord(settings);
  if (record === undefined || record.temporal_port === settings.temporalPort) return undefined;
  const holder = await findPortHolder(record.temporal_port);
  const dbFile = optionOf(holder?.command ?? [], 'db-filename');
  return dbFile === dbFileOf(settings) ? record.temporal_port : undefined;
}

/**
 * Refuses the embedded server of another home on this port: its worker would take the runs of this home, and write their
 * files into its own folder. Any other server may be joined, since nothing is known of its workers.
 *
 * @returns a line for the user: who owns the server
 * @throws {ExpectedError}
 */
export async function refuseOtherHome(
  settings: Pick<Settings, 'home'>,
  port: number,
): Promise<string> {
  const holder = await findPortHolder(port);
  const dbFile = optionOf(holder?.command ?? [], 'db-filename');
  const address = `${localHost}:${port}`;
  if (dbFile === dbFileOf(settings)) {
    return `Reusing this home's Temporal dev server at ${address} (process ${holder?.pid}).`;
  }
  if (dbFile === undefined || !isOfHome(dbFile)) {
    return `Reusing the Temporal server at ${address}, which belongs to ${describeHolder(holder)}.`;
  }
  const owner = dirname(dirname(dbFile));
  throw new ExpectedError(
    [
      `The Temporal server at ${address} belongs to another home, ${owner}, not to ${settings.home}.`,
      'Its worker could take the runs of this home and write their files there.',
      `What to do: start a server of your own: PLANWAVE_TEMPORAL_PORT=${port + 100}`,
      `or work in the other home: PLANWAVE_HOME=${quoteWord(owner)}`,
      `or join its server with a queue of your own: TEMPORAL_ADDRESS=${address} PLANWAVE_TASK_QUEUE=planwave-2`,
    ].join('\n'),
  );
}

/** Tells a database that `dbFileOf` placed from one of another program. */
function isOfHome(dbFile: string): boolean {
  return dbFile === dbFileOf({ home: dirname(dirname(dbFile)) });
}

async function register(address: string, say: (line: string) => void): Promise<void> {
  const added = await registerSearchAttributes(address);
  if (added.length > 0) say(`Registered search attributes at ${address}: ${added.join(', ')}.`);
}

async function uiUrlOf(port: number): Promise<string | undefined> {
  return (await isListening(localHost, port)) ? `http://localhost:${port}` : undefined;
}

/** The process that listens on a port. */
interface PortHolder {
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
function describeHolder(holder: PortHolder | undefined): string {
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
