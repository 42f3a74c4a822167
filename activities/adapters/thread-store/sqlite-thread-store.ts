import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'libsql';
import type {
  EntryCounts,
  ListedThreads,
  ReadThread,
  ThreadEntry,
} from '../../../contracts/thread.ts';
import type { ThreadStore } from '../../ports/thread-store.ts';
import { getCode } from '../file-store/store-errors.ts';
import { readDelegations, readMessages, storable, writeBody } from './rows.ts';
import { wordsOf, wordsSought } from './search-words.ts';
import { createConnection } from './sqlite-connection.ts';
import { explainSqliteError, isBusy } from './sqlite-errors.ts';
import { countEntries, listThreads, readThread, removeEntries } from './sqlite-upkeep.ts';

/** Milliseconds that a call waits for another process that writes. A write takes a few. */
const busyMsDefault = 3_000;

/** Milliseconds between two attempts; random, so that two waiting processes do not collide again. */
const lookAgainMs = { min: 2, max: 20 };

/**
 * Creates a store of threads in one SQLite file for all workers of a machine, `<home>/threads.db`.
 *
 * Calls run one after the other and never wait inside, so no worker holds a lock while it does something else. A
 * write-ahead log would gain nothing; without one there is a single file to copy, which works wherever files can be
 * locked.
 *
 * @param busyMs Milliseconds that a call waits for other processes. Default 3 s.
 */
export function createSqliteThreadStore({
  home,
  busyMs = busyMsDefault,
}: {
  readonly home: string;
  readonly busyMs?: number;
}): ThreadStore {
  const file = join(home, 'threads.db');
  const connection = createConnection(file);

  async function use<T>(doing: 'read' | 'write', work: (db: Database.Database) => T): Promise<T> {
    const giveUpAtMs = performance.now() + busyMs;
    for (;;) {
      try {
        await mkdir(home, { recursive: true });
        return connection.use(work);
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAtMs) {
          throw await explainSqliteError(doing, file, error);
        }
      }
      await sleep(lookAgainMs.min + Math.random() * (lookAgainMs.max - lookAgainMs.min));
    }
  }

  /** Uses the file only if it exists: reading must not create one. */
  async function useIfThere<T>(
    doing: 'read' | 'write',
    work: (db: Database.Database) => T,
    nothing: T,
  ): Promise<T> {
    return (await isMissing(file)) ? nothing : use(doing, work);
  }

  return {
    load: (threadId, { messages, delegations, exceptRun }) =>
      use('read', (db) => {
        const thread = [storable(threadId), storable(exceptRun)] as const;
        return {
          messages: readMessages(db.prepare(newestEntries).all(...thread, messages), messages),
          ...readDelegations(db.prepare(newestDelegations).all(...thread, delegations)),
        };
      }),
    append: (entry) => use('write', (db) => appendEntry(db, entry)),
    async search(threadId, query, { limit, exceptRun }) {
      const words = wordsSought(query);
      if (words.length === 0) return { delegations: [], unreadable: 0 };
      // Quoted, a word is never an operator such as OR or NEAR.
      const match = words.map((word) => `"${word}"`).join(' OR ');
      return use('read', (db) =>
        readDelegations(
          db.prepare(foundDelegations).all(match, storable(threadId), storable(exceptRun), limit),
        ),
      );
    },
    list: (options) => useIfThere('read', (db) => listThreads(db, options), noThreads),
    read: (threadId, limit) =>
      useIfThere('read', (db) => readThread(db, threadId, limit), noThread),
    count: (which) => useIfThere('read', (db) => countEntries(db, which), noEntries),
    remove: (which) => useIfThere('write', (db) => removeEntries(db, which), noEntries),
    close: async () => connection.close(),
  };
}

const noThreads: ListedThreads = { threads: [], total: 0 };
const noThread: ReadThread = { entries: [], total: 0, unreadable: 0 };
const noEntries: EntryCounts = { threads: 0, entries: 0, delegations: 0 };

/** Returns false when it can't be decided: then using the file reports the reason. */
async function isMissing(file: string): Promise<boolean> {
  try {
    await access(file);
    return false;
  } catch (error) {
    return getCode(error) === 'ENOENT';
  }
}

function appendEntry(db: Database.Database, entry: ThreadEntry): void {
  const { thread_id, user_id, run_id, delegation_id, at, message, answer } = entry;
  db.exec('BEGIN IMMEDIATE');
  const keys = [thread_id, user_id, run_id, delegation_id].map(storable);
  const own = [storable(run_id), storable(delegation_id)] as const;
  if (db.prepare(laterEntry).all(...own, at).length > 0) {
    db.exec('COMMIT');
    return;
  }
  db.prepare(removeEntry).run(...own);
  const { lastInsertRowid } = db
    .prepare(addEntry)
    .run(...keys, at, storable(message), storable(answer));
  for (const delegation of entry.delegations) {
    const added = db
      .prepare(addDelegation)
      .run(lastInsertRowid, storable(delegation.delegation_id), writeBody(delegation));
    db.prepare(addWords).run(added.lastInsertRowid, wordsOf(delegation).join(' '));
  }
  db.exec('COMMIT');
}

const laterEntry = 'SELECT 1 FROM thread_entries WHERE run_id = ? AND delegation_id = ? AND at > ?';

const removeEntry = 'DELETE FROM thread_entries WHERE run_id = ? AND delegation_id = ?';

const addEntry =
  'INSERT INTO thread_entries (thread_id, user_id, run_id, delegation_id, at, message, answer) ' +
  'VALUES (?, ?, ?, ?, ?, ?, ?)';

const addDelegation = 'INSERT INTO thread_delegations (entry_id, task_id, body) VALUES (?, ?, ?)';

const addWords = 'INSERT INTO thread_words (rowid, words) VALUES (?, ?)';

const newestEntries = `
  SELECT message, answer, at FROM thread_entries
  WHERE thread_id = ? AND run_id <> ?
  ORDER BY at DESC, id DESC LIMIT ?`;

const newestDelegations = `
  SELECT run_id, task_id, body
  FROM thread_delegations JOIN thread_entries ON thread_entries.id = entry_id
  WHERE thread_id = ? AND run_id <> ?
  ORDER BY at DESC, thread_delegations.id DESC LIMIT ?`;

/** A lower rank is better. */
const foundDelegations = `
  SELECT run_id, task_id, body
  FROM thread_words
  JOIN thread_delegations ON thread_delegations.id = thread_words.rowid
  JOIN thread_entries ON thread_entries.id = entry_id
  WHERE thread_words MATCH ? AND thread_id = ? AND run_id <> ?
  ORDER BY rank, at DESC, thread_delegations.id DESC LIMIT ?`;
