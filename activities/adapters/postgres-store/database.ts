import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { getCode } from '../file-store/store-errors.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/** Version of the tables that the first migration makes. Those below were made by checkouts before the first release. */
const oldestVersion = 4;

/**
 * Changes of the tables, each of which makes the next version. One that was released is never changed: another one follows it.
 *
 * Keys are hexadecimal digits, and everything else that planwave writes is in bytes: names and texts may hold what a text of
 * PostgreSQL can't.
 */
const migrations: readonly (readonly string[])[] = [
  [
    'CREATE TABLE planwave_store_schema (version integer NOT NULL)',
    'INSERT INTO planwave_store_schema VALUES (0)',
    // Bytes may be in a bucket instead, in an object that belongs to this row alone.
    `CREATE TABLE planwave_artifacts (
      ref text COLLATE "C" PRIMARY KEY,
      bytes bytea,
      stored_at timestamptz NOT NULL DEFAULT now(),
      object text COLLATE "C",
      size bigint,
      is_damaged boolean NOT NULL DEFAULT false
    )`,
    // Not compressed, so that a part of a large one can be read alone.
    'ALTER TABLE planwave_artifacts ALTER COLUMN bytes SET STORAGE EXTERNAL',
    // Appended to: of an attempt the newest row counts whose seal fits.
    `CREATE TABLE planwave_replies (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id uuid NOT NULL UNIQUE,
      key text COLLATE "C" NOT NULL,
      attempt integer NOT NULL,
      root text COLLATE "C" NOT NULL,
      body bytea NOT NULL,
      stored_at timestamptz NOT NULL DEFAULT now()
    )`,
    'CREATE INDEX planwave_replies_by_key ON planwave_replies (key)',
    'CREATE INDEX planwave_replies_by_root ON planwave_replies (root, seq)',
    // Runs, research and effects: each is replaced by a writer that has read its version.
    `CREATE TABLE planwave_entries (
      kind text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      version integer NOT NULL,
      writer uuid NOT NULL,
      body bytea NOT NULL,
      stored_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, key)
    )`,
    // The id of the store, which its runs record, and those of stores that were copied into it. A restored dump has the same.
    'CREATE TABLE planwave_store_ids (id text COLLATE "C" PRIMARY KEY, is_own boolean NOT NULL)',
    `INSERT INTO planwave_store_ids
      VALUES (substr(md5(random()::text || clock_timestamp()::text), 1, 12), true)`,
  ],
];

export const newestVersion = oldestVersion - 1 + migrations.length;

/** Reasons and cures for codes of the system and of PostgreSQL; `@` stands for the name of the setting with the address. */
const explanations = new Map<string | null, readonly [reason: string, cure: string]>([
  ['ECONNREFUSED', ['no server listens there', 'start the server, or check @']],
  ['ECONNRESET', ['the connection was cut', 'look at the log of the server']],
  ['ENOTFOUND', ['the host name is unknown', 'check @']],
  ['EAI_AGAIN', ['names of hosts can not be looked up', 'check the network']],
  ['28P01', ['it refuses user or password', 'check @']],
  ['28000', ['it refuses the user', 'check @']],
  ['3D000', ['it has no such database', 'create it, or check @']],
  ['42501', ['the user may not do this', 'grant the user to create tables, once, and to use them']],
  ['53100', ['its disk is full', 'free some space on the disk of the server']],
  ['53300', ['it has too many connections', 'raise max_connections of the server']],
  ['57P03', ['it is starting or stopping', 'wait until it is up']],
  ['25006', ['it is read-only', 'name the primary server in @']],
]);

export interface PostgresFault {
  /** The reason, with the code of the system or of PostgreSQL. */
  readonly reason: string;
  readonly cure: string;
  readonly code: string | null;
}

/** @param setting Name of the variable that holds the address. */
export function explainPostgres(error: unknown, setting: string): PostgresFault {
  const code = getCode(error);
  const message = messageOf(error);
  const [reason, cure] =
    explanations.get(code) ??
    (/timeout/i.test(message)
      ? ['it does not answer', 'look whether the server is well, and check @']
      : [message, 'look at the server, and check @']);
  const named = code === null ? '' : ` (${code})`;
  return { reason: `${reason}${named}`, cure: cure.replaceAll('@', setting), code };
}

/**
 * Returns true when the connection is gone or the server asks for a repetition: the statement may have been carried out or
 * not. Waiting for an answer in vain is not among it, because a repetition would wait as long.
 */
function isRepeatable(error: unknown): boolean {
  const code = getCode(error) ?? '';
  // Only answers of the server have it.
  const isAnswer = typeof error === 'object' && error !== null && 'severity' in error;
  if (isAnswer) return /^(?:08|40|57P0)/.test(code);
  return !/timeout/i.test(error instanceof Error ? error.message : '');
}

/** Returns the address in a URL without user, password and parameters. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** A statement takes a millisecond, but large artifacts take seconds. */
const limits = { max: 8, connectMs: 10_000, queryMs: 60_000, keepAlive: true };

/** Milliseconds before a statement is repeated whose connection was cut. */
const repeatAfterMs: readonly number[] = [20, 200, 1_000];

/** Key of the lock that is held while the tables are changed. An arbitrary number of our own. */
const schemaLock = 4_202_512;

const setting = 'PLANWAVE_STORE_URL';

export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** Its address, without user and password. */
  readonly place: string;
  /**
   * Carries out one statement, which is a transaction of its own. If the connection is cut, the statement may
   * have been carried out or not, and it is repeated: so each must be harmless when it is carried out twice.
   *
   * @throws {StoreUnavailable}
   */
  query(
    doing: 'read' | 'write',
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly Row[]>;
  /** Returns the version of the tables, 0 without them. Makes none. @throws {StoreUnavailable} */
  readVersion(): Promise<number>;
  close(): Promise<void>;
}

/** The tables are those of another planwave. */
export class OtherSchema extends StoreUnavailable {}

/**
 * Opens a database. Nothing connects before the first use; connections close themselves soon after the last, and keep no
 * process alive.
 *
 * SQD1. The numbered migrations that a database lacks are carried out once, by one process, all or none.
 * SQD2. Tables of a newer planwave are refused, with every statement on a new connection, and so are those of a checkout before
 *       the first release, which stay as they are.
 * SQD3. A statement whose connection is cut is repeated on another one.
 *
 * @param url `postgresql://user:password@host:port/database`. Its password is in no error.
 */
export function openDatabase(url: string): Database {
  const place = addressOf(url);
  let pool: Promise<Pool> | null = null;
  let prepared = new WeakSet<PoolClient>();

  async function once<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    pool ??= createPool(url);
    const client = await (await pool).connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // The state of the connection is unknown.
      client.release(true);
      throw error;
    }
  }

  async function withClient<T>(
    doing: 'read' | 'write',
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    for (const waitMs of [...repeatAfterMs, null]) {
      try {
        // oxlint-disable-next-line no-await-in-loop
        return await once(work);
      } catch (error) {
        if (waitMs === null || !isRepeatable(error)) throw toStoreUnavailable(doing, place, error);
        // oxlint-disable-next-line no-await-in-loop
        await sleep(waitMs);
      }
    }
    throw new Error('unreachable');
  }

  return {
    place,
    query: (doing, text, values = []) =>
      withClient(doing, async (client) => {
        if (!prepared.has(client)) await prepare(client, place);
        prepared.add(client);
        return (await client.query<Row>(text, [...values])).rows;
      }),
    readVersion: () => withClient('read', readVersion),
    close: async () => {
      const closing = pool;
      pool = null;
      prepared = new WeakSet();
      await (await closing)?.end();
    },
  };
}

/** Loads the driver when it is needed: a client of files has no use for it. */
async function createPool(url: string): Promise<Pool> {
  const { openPool } = await import('./open-pool.ts');
  return openPool(url, limits);
}

/** Makes or changes the tables, where it is needed: a user that may not do so can use those that are there. */
async function prepare(client: PoolClient, place: string): Promise<void> {
  const version = await readVersion(client);
  let fault = findSchemaFault(place, version);
  if (fault === null && version < newestVersion) {
    fault = findSchemaFault(place, await migrate(client));
  }
  if (fault !== null) throw new OtherSchema(fault, { path: place, code: null });
}

/**
 * Returns why this planwave can't use tables, with a cure; null when it can.
 *
 * @param version 0 without tables.
 */
export function findSchemaFault(place: string, version: number): string | null {
  const has = `The store at ${place} has tables of version ${version}; this planwave knows those`;
  if (version > newestVersion) {
    return `${has} up to ${newestVersion}. Try: update this planwave to the one that changed them, or name another database in ${setting}`;
  }
  if (version === 0 || version >= oldestVersion) return null;
  return `${has} from ${oldestVersion} on. Try: the planwave that made them, or name another database in ${setting}`;
}

async function readVersion(client: PoolClient): Promise<number> {
  // The catalog itself, because the cache of `to_regclass` is as old as the transaction.
  const { rowCount } = await client.query(
    "SELECT 1 FROM pg_class WHERE relname = 'planwave_store_schema' AND pg_table_is_visible(oid)",
  );
  if (rowCount === 0) return 0;
  const { rows } = await client.query<{ version: number }>(
    'SELECT version FROM planwave_store_schema',
  );
  return rows[0]?.version ?? 0;
}

/** Carries out the migrations that are missing, unless another process does. @returns the version of the tables. */
async function migrate(client: PoolClient): Promise<number> {
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(${schemaLock})`);
  const version = await readVersion(client);
  for (const statements of migrations.slice(Math.max(version - oldestVersion + 1, 0))) {
    // oxlint-disable-next-line no-await-in-loop -- one connection
    for (const statement of statements) await client.query(statement);
  }
  const reached = Math.max(version, newestVersion);
  await client.query('UPDATE planwave_store_schema SET version = $1', [reached]);
  await client.query('COMMIT');
  return reached;
}

function toStoreUnavailable(
  doing: 'read' | 'write',
  place: string,
  error: unknown,
): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const { reason, cure, code } = explainPostgres(error, setting);
  return new StoreUnavailable(
    `Can't ${doing} the store at ${place}: ${reason}. Try: ${cure}. The run waits and continues by itself.`,
    { path: place, code, cause: error },
  );
}
