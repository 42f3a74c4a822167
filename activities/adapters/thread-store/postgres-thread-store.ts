import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import type { ThreadEntry } from '../../../contracts/thread.ts';
import type { ThreadStore } from '../../ports/thread-store.ts';
import { explainPostgresError } from './postgres-errors.ts';
import { ensureSchema } from './postgres-schema.ts';
import { countEntries, listThreads, readThread, removeEntries } from './postgres-upkeep.ts';
import { readDelegations, readMessages, storable, writeBody } from './rows.ts';
import { wordsOf, wordsSought } from './search-words.ts';

/** Connections of one worker. A team needs one for a moment, twice in its life. */
const connectionsMax = 4;

/** Milliseconds after which connecting or a query is given up: a leader must not wait for its memory. */
const patience = { connectMs: 2_000, queryMs: 3_000 };

/** Milliseconds after which an unused connection is closed. */
const idleMs = 10_000;

/**
 * Creates a store of threads in a PostgreSQL database, for workers on many machines.
 *
 * Connections are opened on demand, close themselves soon after, and keep no process alive: a worker that ends has
 * nothing to close.
 *
 * @param url `postgresql://user:password@host:port/database`. Its password is in no error.
 */
export function createPostgresThreadStore({ url }: { readonly url: string }): ThreadStore {
  let pool: Pool | null = null;
  let isPrepared = false;

  async function use<T>(
    doing: 'read' | 'write',
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    pool ??= createPool(url);
    try {
      const client = await pool.connect();
      try {
        if (!isPrepared) await ensureSchema(client, url);
        isPrepared = true;
        const done = await work(client);
        client.release();
        return done;
      } catch (error) {
        // The state of the connection is unknown.
        client.release(true);
        // The tables may be missing.
        isPrepared = false;
        throw error;
      }
    } catch (error) {
      throw explainPostgresError(doing, url, error);
    }
  }

  return {
    load: (threadId, { messages, delegations, exceptRun }) =>
      use('read', async (client) => {
        const thread = [storable(threadId), storable(exceptRun)];
        const entries = await client.query(newestEntries, [...thread, messages]);
        const newest = await client.query(newestDelegations, [...thread, delegations]);
        return {
          messages: readMessages(entries.rows, messages),
          ...readDelegations(newest.rows),
        };
      }),
    append: (entry) => use('write', (client) => appendEntry(client, entry)),
    async search(threadId, query, { limit, exceptRun }) {
      const words = wordsSought(query);
      if (words.length === 0) return { delegations: [], unreadable: 0 };
      // Quoted, a word is never an operator.
      const match = words.map((word) => `'${word}'`).join(' | ');
      return use('read', async (client) => {
        const values = [storable(threadId), storable(exceptRun), match, limit];
        return readDelegations((await client.query(foundDelegations, values)).rows);
      });
    },
    list: (options) => use('read', (client) => listThreads(client, options)),
    read: (threadId, limit) => use('read', (client) => readThread(client, threadId, limit)),
    count: (which) => use('read', (client) => countEntries(client, which)),
    remove: (which) => use('write', (client) => removeEntries(client, which)),
    async close() {
      const closing = pool;
      pool = null;
      isPrepared = false;
      await closing?.end();
    },
  };
}

function createPool(url: string): Pool {
  const { connectMs, queryMs } = patience;
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    query_timeout: queryMs,
    // The server gives up too, so that an abandoned query holds no lock.
    statement_timeout: queryMs,
    idle_in_transaction_session_timeout: queryMs,
    idleTimeoutMillis: idleMs,
    allowExitOnIdle: true,
    application_name: 'planwave',
  });
  // A broken idle connection is no error: the next use opens another one.
  pool.on('error', () => {});
  return pool;
}

async function appendEntry(client: PoolClient, entry: ThreadEntry): Promise<void> {
  const { thread_id, user_id, run_id, delegation_id, at, message, answer, delegations } = entry;
  await client.query('BEGIN');
  const added = await client.query<{ id: string }>(putEntry, [
    ...[thread_id, user_id, run_id, delegation_id].map(storable),
    at,
    storable(message),
    storable(answer),
  ]);
  const entryId = added.rows[0]?.id;
  // Otherwise the stored entry has a later time.
  if (entryId !== undefined) {
    await client.query(removeDelegations, [entryId]);
    await client.query(addDelegations, [
      entryId,
      delegations.map((one) => storable(one.delegation_id)),
      delegations.map(writeBody),
      delegations.map((one) => wordsOf(one).join(' ')),
    ]);
  }
  await client.query('COMMIT');
}

/** Locks the entry until the end, so that two writers of the same one take turns. */
const putEntry = `
  INSERT INTO planwave_thread_entries
    (thread_id, user_id, run_id, delegation_id, at, message, answer)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (run_id, delegation_id) DO UPDATE SET
    thread_id = excluded.thread_id, user_id = excluded.user_id, at = excluded.at,
    message = excluded.message, answer = excluded.answer
  WHERE planwave_thread_entries.at <= excluded.at
  RETURNING id`;

const removeDelegations = 'DELETE FROM planwave_thread_delegations WHERE entry_id = $1';

/** Stores the words like the configuration 'simple', but from `listTerms`. */
const addDelegations = `
  INSERT INTO planwave_thread_delegations (entry_id, task_id, body, words)
  SELECT $1, task_id, body, array_to_tsvector(string_to_array(words, ' '))
  FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY
    AS added (task_id, body, words, nth)
  ORDER BY nth`;

const newestEntries = `
  SELECT message, answer, at FROM planwave_thread_entries
  WHERE thread_id = $1 AND run_id <> $2
  ORDER BY at DESC, id DESC LIMIT $3`;

const newestDelegations = `
  SELECT run_id, task_id, body
  FROM planwave_thread_delegations delegation
  JOIN planwave_thread_entries entry ON entry.id = entry_id
  WHERE thread_id = $1 AND run_id <> $2
  ORDER BY at DESC, delegation.id DESC LIMIT $3`;

const foundDelegations = `
  SELECT run_id, task_id, body
  FROM planwave_thread_delegations delegation
  JOIN planwave_thread_entries entry ON entry.id = entry_id
  WHERE thread_id = $1 AND run_id <> $2 AND words @@ $3::tsquery
  ORDER BY ts_rank(words, $3::tsquery, 1) DESC, at DESC, delegation.id DESC LIMIT $4`;
