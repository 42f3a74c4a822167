import type { PoolClient } from 'pg';
import { ThreadUnavailable } from '../../ports/thread-store.ts';
import { addressOf } from './postgres-errors.ts';

/** Number of the table version, raised with every change; the database stores its own. */
const schemaVersion = 1;

/** Key of the lock that is held while the tables are created. An arbitrary number of our own. */
const schemaLock = 4_202_511;

/** The same tables as in SQLite: a delegation is stored as JSON, with its words beside it for the search. */
const schema = `
  CREATE TABLE planwave_thread_entries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id text NOT NULL,
    user_id text,
    run_id text NOT NULL,
    delegation_id text NOT NULL,
    at double precision NOT NULL,
    message text NOT NULL,
    answer text,
    UNIQUE (run_id, delegation_id)
  );
  CREATE INDEX planwave_thread_entries_by_thread ON planwave_thread_entries (thread_id, at);
  CREATE TABLE planwave_thread_delegations (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry_id bigint NOT NULL REFERENCES planwave_thread_entries (id) ON DELETE CASCADE,
    task_id text NOT NULL,
    body text NOT NULL,
    words tsvector NOT NULL
  );
  CREATE INDEX planwave_thread_delegations_by_entry ON planwave_thread_delegations (entry_id);
  CREATE INDEX planwave_thread_delegations_by_word ON planwave_thread_delegations USING gin (words);
  CREATE TABLE planwave_thread_schema (version integer NOT NULL);
  INSERT INTO planwave_thread_schema VALUES (${schemaVersion});
`;

/**
 * Creates the tables of a database that has none. Two workers that start at once create them once, and a user without
 * the right to create tables can use them.
 *
 * @throws {ThreadUnavailable} when a newer planwave has created them.
 */
export async function ensureSchema(client: PoolClient, url: string): Promise<void> {
  if (!(await hasTables(client))) {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [schemaLock]);
    if (!(await hasTables(client))) await client.query(schema);
    await client.query('COMMIT');
  }
  const { rows } = await client.query<{ version: number }>(
    'SELECT version FROM planwave_thread_schema',
  );
  const version = rows[0]?.version;
  if (version === schemaVersion) return;
  throw new ThreadUnavailable(
    `The threads at ${addressOf(url)} have version ${version}; this planwave knows version ${schemaVersion}. ` +
      'Try: start the planwave that wrote them, or name another database by PLANWAVE_THREADS_URL.',
  );
}

/** Reads the catalog itself, because the cache of `to_regclass` is as old as the transaction. */
async function hasTables(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT 1 FROM pg_class WHERE relname = 'planwave_thread_schema' AND pg_table_is_visible(oid)",
  );
  return rows.length > 0;
}
