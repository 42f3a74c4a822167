import type { PoolClient } from 'pg';
import type {
  EntryCounts,
  EntrySelection,
  ListedThreads,
  ReadThread,
} from '../../../contracts/thread.ts';
import type { ListThreadsOptions } from '../../ports/thread-store.ts';
import { storable } from './rows.ts';
import { readCounts, readEntries, readSummaries } from './upkeep-rows.ts';

/** Lists the threads of a database. */

export async function listThreads(
  client: PoolClient,
  { limit, userId }: ListThreadsOptions,
): Promise<ListedThreads> {
  return readSummaries((await client.query(summaries, [storable(userId), limit])).rows);
}

/** Reads a thread in one transaction, so that no entry of a worker comes in between. */
export async function readThread(
  client: PoolClient,
  threadId: string,
  limit: number,
): Promise<ReadThread> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const { entries: total } = await countEntries(client, { thread_id: threadId });
  const entries = await client.query(newestEntries, [storable(threadId), limit]);
  const tasks = await client.query(tasksOfNewest, [storable(threadId), limit]);
  await client.query('COMMIT');
  return { ...readEntries(entries.rows, tasks.rows), total };
}

export async function countEntries(
  client: PoolClient,
  which: EntrySelection,
): Promise<EntryCounts> {
  const [column, value] = toCondition(which);
  const chosen = `SELECT id, thread_id FROM planwave_thread_entries WHERE ${column} = $1`;
  return readCounts((await client.query(counts(chosen), [value])).rows);
}

/** Counts and deletes in one statement, which still sees the delegations of the deleted entries. */
export async function removeEntries(
  client: PoolClient,
  which: EntrySelection,
): Promise<EntryCounts> {
  const [column, value] = toCondition(which);
  const chosen = `DELETE FROM planwave_thread_entries WHERE ${column} = $1 RETURNING id, thread_id`;
  return readCounts((await client.query(counts(chosen), [value])).rows);
}

function toCondition(which: EntrySelection): readonly [column: string, value: string] {
  return 'thread_id' in which
    ? ['thread_id', storable(which.thread_id)]
    : ['user_id', storable(which.user_id)];
}

const summaries = `
  SELECT thread_id, count(*)::integer AS entries, max(at) AS newest_at,
    coalesce(
      json_agg(DISTINCT user_id) FILTER (WHERE user_id IS NOT NULL), '[]'
    )::text AS user_ids,
    (count(*) OVER ())::integer AS total
  FROM planwave_thread_entries
  WHERE $1::text IS NULL OR user_id = $1
  GROUP BY thread_id ORDER BY newest_at DESC, thread_id LIMIT $2`;

const newestEntries = `
  SELECT id, thread_id, user_id, run_id, delegation_id, at, message, answer
  FROM planwave_thread_entries
  WHERE thread_id = $1
  ORDER BY at DESC, id DESC LIMIT $2`;

const tasksOfNewest = `
  SELECT entry_id, task_id, body FROM planwave_thread_delegations
  WHERE entry_id IN (
    SELECT id FROM planwave_thread_entries WHERE thread_id = $1 ORDER BY at DESC, id DESC LIMIT $2
  )
  ORDER BY id`;

/** @param chosen SQL that selects the counted entries. */
function counts(chosen: string): string {
  return `
    WITH chosen AS (${chosen})
    SELECT count(DISTINCT thread_id)::integer AS threads, count(*)::integer AS entries,
      (SELECT count(*)::integer FROM planwave_thread_delegations WHERE entry_id IN (
        SELECT id FROM chosen
      )) AS delegations
    FROM chosen`;
}
