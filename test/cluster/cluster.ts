import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { messageOf } from '../../scripts/bootstrap/expected-error.mjs';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { OwnPostgres } from '../support/own-postgres.ts';
import { startObjectStore } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { FoundPrograms, ModuleName } from './programs.ts';
import { startClusterServer } from './temporal-server.ts';
import type { ClusterServer } from './temporal-server.ts';

/** The parts that workers on several hosts share, on this machine and without containers. A missing one is null. */
export interface Cluster {
  readonly folder: string;
  readonly postgres: OwnPostgres | null;
  readonly server: ClusterServer | null;
  readonly objects: ObjectStore | null;
  /** Variables of workers and clients that name the shared store. */
  readonly env: Readonly<Record<string, string>>;
  /** Reasons why parts are missing, each with a cure. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** Connections of the Temporal server's pools and of workers. */
const connectionsMax = 300;

/**
 * Starts PostgreSQL, the Temporal server on it, and an S3 server. What this machine lacks is left out.
 *
 * @param find Finds the programs that Go builds.
 */
export async function startCluster(
  find: (name: ModuleName) => Promise<FoundPrograms> | FoundPrograms,
  say: (line: string) => void = () => {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-cluster-'));
  const missing: string[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    // Each part uses those that were started before it.
    // oxlint-disable-next-line no-await-in-loop
    for (const end of stops.splice(0).toReversed()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  const begin = async <T extends { stop(): Promise<unknown> }>(
    name: string,
    start: () => Promise<T>,
  ): Promise<T> => {
    say(`Starting ${name} …`);
    const part = await start();
    stops.push(() => part.stop());
    return part;
  };
  try {
    const postgres = await begin('PostgreSQL', () => startOwnPostgres(connectionsMax)).catch(
      (error: unknown) => {
        missing.push(messageOf(error));
        return null;
      },
    );
    const programs = async (name: ModuleName): Promise<string | null> => {
      const found = await find(name);
      if (found.folder === null) missing.push(found.missing);
      return found.folder;
    };
    const temporal = postgres === null ? null : await programs('temporal');
    const versitygw = postgres === null ? null : await programs('objects');
    const server =
      postgres === null || temporal === null
        ? null
        : await begin('the Temporal server', () =>
            startClusterServer(temporal, postgres.url, folder),
          );
    const objects =
      versitygw === null
        ? null
        : await begin('the S3 server', () => startObjectStore(versitygw, folder));
    const storeUrl = postgres === null ? null : await createDatabase(postgres.url, 'planwave');
    return {
      folder,
      postgres,
      server,
      objects,
      env: {
        ...(storeUrl !== null && { PLANWAVE_STORE_URL: storeUrl }),
        ...(objects !== null && { PLANWAVE_ARTIFACTS_URL: objects.url, ...objects.env }),
      },
      missing,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  return serverUrl.replace(/postgres$/, name);
}
