import type Database from 'libsql';
import type {
  EntryCounts,
  EntrySelection,
  ListedThreads,
  ReadThread,
} from '../../../contracts/thread.ts';
import type { ListThreadsOptions } from '../../ports/thread-store.ts';
import { storable } from './rows.ts';
import { readCounts, readEntries, readSummaries } from './upkeep-rows.ts';

/** Lists the threads of a file. */

export function listThreads(
  db: Database.Database,
  { limit, userId }: ListThreadsOptions,
): ListedThreads {
  return readSummaries(db.prepare(summaries).all(storable(userId), limit));
}

/** Reads a thread in one transaction, so that no entry of a worker comes in between. */
export function readThread(db: Database.Database, threadId: string, limit: number): ReadThread {
  db.exec('BEGIN');
  const total = countEntries(db, { thread_id: threadId }).entries;
  const entries = db.prepare(newestEntries).all(storable(threadId), limit);
  const tasks = db.prepare(tasksOfNewest).all(storable(threadId), limit);
  db.exec('COMMIT');
  return { ...readEntries(entries, tasks), total };
}

export function countEntries(db: Database.Database, which: EntrySelection): EntryCounts {
  const [column, value] = toCondition(which);
  return readCounts(db.prepare(counts(column)).all(value));
}

/**
 * Deletes entries so that nothing of them stays in the file: its pages are overwritten, and the index is merged without
 * their words.
 */
export function removeEntries(db: Database.Database, which: EntrySelection): EntryCounts {
  const [column, value] = toCondition(which);
  db.exec('BEGIN IMMEDIATE');
  const removed = countEntries(db, which);
  db.prepare(`DELETE FROM thread_entries WHERE ${column} = ?`).run(value);
  db.exec("INSERT INTO thread_words (thread_words) VALUES ('optimize')");
  db.exec('COMMIT');
  return removed;
}

function toCondition(which: EntrySelection): readonly [column: string, value: string] {
  return 'thread_id' in which
    ? ['thread_id', storable(which.thread_id)]
    : ['user_id', storable(which.user_id)];
}

const summaries = `
  SELECT thread_id, COUNT(*) AS entries, MAX(at) AS newest_at,
    json_group_array(DISTINCT user_id) FILTER (WHERE user_id IS NOT NULL) AS user_ids,
    COUNT(*) OVER () AS total
  FROM thread_entries
  WHERE ?1 IS NULL OR user_id = ?1
  GROUP BY thread_id ORDER BY newest_at DESC, thread_id LIMIT ?2`;

const newestEntries = `
  SELECT id, thread_id, user_id, run_id, delegation_id, at, message, answer
  FROM thread_entries
  WHERE thread_id = ?
  ORDER BY at DESC, id DESC LIMIT ?`;

const tasksOfNewest = `
  SELECT entry_id, task_id, body FROM thread_delegations
  WHERE entry_id IN (
    SELECT id FROM thread_entries WHERE thread_id = ? ORDER BY at DESC, id DESC LIMIT ?
  )
  ORDER BY id`;

function counts(column: string): string {
  return `
    SELECT COUNT(DISTINCT thread_id) AS threads, COUNT(*) AS entries,
      (SELECT COUNT(*) FROM thread_delegations WHERE entry_id IN (
        SELECT id FROM thread_entries WHERE ${column} = ?1
      )) AS delegations
    FROM thread_entries WHERE ${column} = ?1`;
}
