import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTemporalCli } from '../../scripts/bootstrap/find-temporal-cli.mjs';
import { lastLines, runCommand } from '../../scripts/bootstrap/run-command.mjs';
import {
  findFreePort,
  localHost,
  waitForNamespace,
} from '../../scripts/dev-server/temporal-probe.ts';
import { logTail, startPart } from '../../scripts/parts/part.ts';
import type { Part } from '../../scripts/parts/part.ts';

/** Temporal server on PostgreSQL: all its services in one process. */
export interface ClusterServer {
  readonly address: string;
  readonly pid: () => number;
  kill(): Promise<unknown>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A server that accepts calls only with a token. */
export interface Authorization {
  /** URL of the JSON Web Key Set whose keys sign tokens. */
  readonly keys: string;
  /** Token of an administrator of the system, which makes the namespace. */
  readonly token: string;
}

const startTimeoutMs = 90_000;
const dynamicConfig = fileURLToPath(
  new URL('../../deploy/temporal-dynamic-config.yaml', import.meta.url),
);

/**
 * Makes the databases `temporal` and `temporal_visibility` and starts a server on them.
 *
 * @param programs Folder of `server` and `sql`.
 * @param databaseUrl `postgresql://user:password@host:port/…` of a user who may create databases.
 * @param authorization Null for a server that everyone may use, which is the default.
 */
export async function startClusterServer(
  programs: string,
  databaseUrl: string,
  folder: string,
  authorization: Authorization | null = null,
): Promise<ClusterServer> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  await setUpSchemas(programs, { hostname, port, username, password });
  const env = {
    ...process.env,
    ...(await choosePorts()),
    DB: 'postgres12',
    POSTGRES_SEEDS: hostname,
    DB_PORT: port,
    POSTGRES_USER: username,
    POSTGRES_PWD: password,
    BIND_ON_IP: localHost,
    NUM_HISTORY_SHARDS: '4',
    LOG_LEVEL: 'warn',
    DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    ...(authorization !== null && {
      TEMPORAL_AUTH_AUTHORIZER: 'default',
      TEMPORAL_AUTH_CLAIM_MAPPER: 'default',
      TEMPORAL_JWT_KEY_SOURCE1: authorization.keys,
      // The server's own calls have no token: they take a frontend of their own.
      USE_INTERNAL_FRONTEND: 'true',
      TEMPORAL_SERVICES: 'frontend,internal-frontend,history,matching,worker',
    }),
  };
  const settings = {
    ...process.env,
    ...(authorization !== null && {
      TEMPORAL_API_KEY: authorization.token,
      TEMPORAL_TLS: 'false',
    }),
  };
  const frontend = Number(env.FRONTEND_GRPC_PORT);
  const address = `${localHost}:${frontend}`;
  const logFile = join(folder, 'temporal.log');
  let part: Part;
  const start = async (): Promise<void> => {
    const command = join(programs, 'server');
    part = startPart({
      command,
      args: ['--allow-no-auth', 'start'],
      env,
      logFile,
      kind: 'foreign',
    });
    const ended = new AbortController();
    void part.ended.then(() => ended.abort());
    await registerNamespace(address, settings, ended.signal);
    const failure = await waitForNamespace(frontend, startTimeoutMs, ended.signal, settings);
    if (failure === undefined && !ended.signal.aborted) return;
    part.kill();
    throw new Error(`The Temporal server did not start: ${failure}\n${logTail(logFile)}`);
  };
  await start();
  return {
    address,
    pid: () => part.pid,
    kill() {
      part.kill();
      return part.ended;
    },
    restart: start,
    stop: () => part.stop(15_000),
  };
}

interface DatabaseServer {
  readonly hostname: string;
  readonly port: string;
  readonly username: string;
  readonly password: string;
}

async function setUpSchemas(programs: string, server: DatabaseServer): Promise<void> {
  const { hostname, port, username, password } = server;
  const env = { ...process.env, SQL_PASSWORD: password };
  const place = ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username];
  const schemas = [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const;
  for (const [database, schema] of schemas) {
    for (const step of [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ]) {
      // Each step needs the one before it.
      // oxlint-disable-next-line no-await-in-loop
      const done = await runCommand(join(programs, 'sql'), [...place, '--db', database, ...step], {
        env,
      });
      if (!done.ok) throw new Error(`${step[0]}: ${done.reason}\n${lastLines(done.output, 3)}`);
    }
  }
}

/** Chooses free ports for all services. Those of the membership must be below 32,768, as all that are found are. */
async function choosePorts(): Promise<Record<string, string> & { FRONTEND_GRPC_PORT: string }> {
  const ports = { FRONTEND_GRPC_PORT: String(await findFreePort()) };
  for (const name of [
    'FRONTEND_HTTP_PORT',
    'FRONTEND_MEMBERSHIP_PORT',
    'INTERNAL_FRONTEND_HTTP_PORT',
    ...['INTERNAL_FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].flatMap((one) => [
      `${one}_GRPC_PORT`,
      `${one}_MEMBERSHIP_PORT`,
    ]),
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- two searches at once may find the same
    Object.assign(ports, { [name]: String(await findFreePort()) });
  }
  return ports;
}

/** Creates the namespace `default` of a new server. */
async function registerNamespace(
  address: string,
  env: NodeJS.ProcessEnv,
  giveUp: AbortSignal,
): Promise<void> {
  const { path } = await findTemporalCli();
  const args = ['operator', 'namespace', 'create', '--namespace', 'default', '--retention', '24h'];
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline && !giveUp.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- until the server is up
    const { ok, output } = await runCommand(path, [...args, '--address', address], { env });
    if (ok || output.includes('already exists')) return;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(200);
  }
}
