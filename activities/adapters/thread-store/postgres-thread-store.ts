import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { ThreadUnavailable, type ThreadStore } from '../../ports/thread-store.ts';
import { addressOf, explainPostgres } from '../postgres-store/database.ts';
import { openPool } from '../postgres-store/open-pool.ts';
import {
  assertVersion,
  createCompiler,
  findVersion,
  makeTables,
  type Script,
  type ThreadDialect,
} from './thread-schema.ts';
import { createStore, type Mode } from './thread-scripts.ts';

/** A team needs a connection for a moment, twice in its life, and its leader must not wait for its memory. */
const limits = { max: 4, connectMs: 2_000, queryMs: 3_000 };

/** Key of the lock that is held while the tables are created. An arbitrary number of our own. */
const schemaLock = 4_202_511;

/** Statements that begin a transaction. A deletion holds a lock, so that it deletes exactly what it has counted. */
const begin: Readonly<Record<Mode | 'schema', string>> = {
  read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  append: 'BEGIN',
  remove: 'BEGIN; LOCK TABLE planwave_thread_entries IN SHARE ROW EXCLUSIVE MODE',
  schema: `BEGIN; SELECT pg_advisory_xact_lock(${schemaLock})`,
};

const dialect: ThreadDialect = {
  db: createCompiler({
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }),
  idColumn: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  makeWords: [
    `CREATE TABLE planwave_thread_words (
      rowid bigint PRIMARY KEY REFERENCES planwave_thread_delegations (id) ON DELETE CASCADE,
      words tsvector NOT NULL
    )`,
    'CREATE INDEX planwave_thread_words_by_word ON planwave_thread_words USING gin (words)',
  ],
  // Reads the catalog itself, because the cache of `to_regclass` is as old as the transaction.
  findTables:
    "SELECT 1 FROM pg_class WHERE relname = 'planwave_thread_schema' AND pg_table_is_visible(oid)",
  afterRemoval: [],
  // As the configuration 'simple' does, but for the words, which come ready-made from `listTerms`.
  indexWords: (words) => sql`array_to_tsvector(string_to_array(${words}, ' '))`,
  anyOf: (words) => words.map((word) => `'${word}'`).join(' | '),
  matches: (query) => sql`words @@ ${query}::tsquery`,
  rank: (query) => sql`-ts_rank(words, ${query}::tsquery, 1)`,
};

/**
 * Creates a store of threads in a PostgreSQL database, for workers on many machines.
 *
 * Connections are opened on demand, close themselves soon after, and keep no process alive: a worker that ends has
 * nothing to close.
 *
 * @param url `postgresql://user:password@host:port/database`. Its password is in no error.
 * @param setting Name of the variable that holds it.
 */
export function createPostgresThreadStore({
  url,
  setting = 'PLANWAVE_THREADS_URL',
}: {
  readonly url: string;
  readonly setting?: string;
}): ThreadStore {
  let pool: Pool | null = null;
  let isPrepared = false;

  async function run<T>(mode: Mode, script: () => Script<T>): Promise<T> {
    try {
      pool ??= openPool(url, limits);
      const client = await pool.connect();
      try {
        if (!isPrepared) await prepare(client, url);
        isPrepared = true;
        const result = await transact(client, mode, script());
        client.release();
        return result;
      } catch (error) {
        // The state of the connection is unknown.
        client.release(true);
        isPrepared = false;
        throw error;
      }
    } catch (error) {
      throw explain(mode, { url, setting }, error);
    }
  }

  return createStore(dialect, run, async () => {
    const closing = pool;
    pool = null;
    isPrepared = false;
    await closing?.end();
  });
}

/** Makes the tables of a database that has none. A user that may not make tables can use those that are there. */
async function prepare(client: PoolClient, url: string): Promise<void> {
  const version =
    (await transact(client, 'read', findVersion(dialect))) ||
    (await transact(client, 'schema', makeTables(dialect)));
  assertVersion(version, `at ${addressOf(url)}`, 'name another database by PLANWAVE_THREADS_URL');
}

async function transact<T>(
  client: PoolClient,
  mode: keyof typeof begin,
  script: Script<T>,
): Promise<T> {
  await client.query(begin[mode]);
  let step = script.next();
  while (step.done !== true) {
    const { rows } = await client.query<object>(step.value.sql, [...step.value.parameters]);
    step = script.next(rows);
  }
  await client.query('COMMIT');
  return step.value;
}

function explain(
  mode: Mode,
  { url, setting }: { readonly url: string; readonly setting: string },
  error: unknown,
): ThreadUnavailable {
  if (error instanceof ThreadUnavailable) return error;
  const { reason, cure } = explainPostgres(error, setting);
  const doing = mode === 'read' ? 'read' : 'write';
  return new ThreadUnavailable(
    `Can't ${doing} the threads at ${addressOf(url)}: ${reason}. Try: ${cure}.`,
    { cause: error },
  );
}
