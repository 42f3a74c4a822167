import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePostgres } from '../../scripts/bootstrap/test-programs.mjs';
import { findFreePort } from '../../scripts/dev-server/temporal-probe.ts';
import type { Owner } from './tiny-disk.ts';

/** PostgreSQL server that a test may harm: no other test uses it. */
export interface OwnPostgres {
  /** URL of the database `postgres`, with user and password. */
  readonly url: string;
  readonly password: string;
  /** Owner of its files; null when it is the user of this process. */
  readonly owner: Owner | null;
  readonly pid: () => number;
  /** Ends it at once, as `pg_ctl stop -m immediate` does. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param connectionsMax Default 100.
 * @param flushes Whether a commit waits for the disk, as in production. Default: false, which spares tests the wait.
 */
export async function startOwnPostgres(
  connectionsMax = 100,
  flushes = false,
): Promise<OwnPostgres> {
  const programs = await ensurePostgres();
  const folder = mkdtempSync(join(tmpdir(), 'planwave-postgres-'));
  const data = join(folder, 'data');
  const password = `postgres-password-${process.pid}`;
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const user = findUser();
  if (user !== null) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: folder } as const;
  const made = spawnSync(
    join(programs, 'initdb'),
    [
      `--pgdata=${data}`,
      `--pwfile=${passwordFile}`,
      '--username=planwave',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr || String(made.error)}`);
  const port = await findFreePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `max_connections=${connectionsMax}`,
    `fsync=${flushes ? 'on' : 'off'}`,
  ].flatMap((one) => ['-c', one]);
  const start = () =>
    startServer(
      join(programs, 'postgres'),
      ['-D', data, '-p', String(port), '-k', folder, ...settings],
      options,
    );
  let server = await start();
  return {
    url: `postgresql://planwave:${password}@127.0.0.1:${port}/postgres`,
    password,
    owner: user,
    pid: () => server.pid,
    // The server's immediate shutdown: its connections are cut in the middle.
    kill: () => server.end('SIGQUIT'),
    async restart() {
      server = await start();
    },
    async stop() {
      await server.end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Finds a user for PostgreSQL, which refuses to run as root. */
function findUser(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  // Debian's package creates the first one; every system has the second.
  const name = Number.isNaN(idOf('-u', 'postgres')) ? 'nobody' : 'postgres';
  return { uid: idOf('-u', name), gid: idOf('-g', name) };
}

function idOf(flag: '-u' | '-g', name: string): number {
  return Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || Number.NaN);
}

interface Server {
  readonly pid: number;
  end(signal: NodeJS.Signals): Promise<void>;
}

async function startServer(
  program: string,
  args: readonly string[],
  options: { readonly uid?: number; readonly gid?: number; readonly cwd: string },
): Promise<Server> {
  const child = spawn(program, args, {
    ...options,
    // A Ctrl-C of the terminal reaches this process only, which stops its parts in order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // So the server ends with this process, whose exit nobody may wait for.
  const endAtExit = (): void => void child.kill('SIGINT');
  process.once('exit', endAtExit);
  const closed = once(child, 'close');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      log += text.toString();
      if (log.includes('ready to accept connections')) resolve();
    });
    child.on('close', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    child.on('error', reject);
  });
  return {
    pid: child.pid ?? -1,
    async end(signal) {
      child.kill(signal);
      await closed;
      process.off('exit', endAtExit);
    },
  };
}
