import { statSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import Database from 'libsql';
import { ThreadUnavailable, type ThreadStore } from '../../ports/thread-store.ts';
import { explainCode, getCode } from '../file-store/store-errors.ts';
import {
  assertVersion,
  createCompiler,
  findVersion,
  makeTables,
  type Script,
  type ThreadDialect,
} from './thread-schema.ts';
import { createStore, type Mode } from './thread-scripts.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/** Milliseconds that a call waits for another process that writes. A write takes a few. */
const busyMsDefault = 3_000;

/** Milliseconds between two attempts; random, so that two waiting processes do not collide again. */
const lookAgainMs = { min: 2, max: 20 };

const begin: Readonly<Record<Mode | 'schema', string>> = {
  read: 'BEGIN',
  append: 'BEGIN IMMEDIATE',
  remove: 'BEGIN IMMEDIATE',
  schema: 'BEGIN IMMEDIATE',
};

const dialect: ThreadDialect = {
  db: createCompiler({
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }),
  idColumn: 'INTEGER PRIMARY KEY',
  // The words come ready-made from `listTerms`; the tokenizer only has to leave them as they are.
  makeWords: [
    `CREATE VIRTUAL TABLE planwave_thread_words USING fts5 (
      words, content='', contentless_delete=1,
      tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
    )`,
    `CREATE TRIGGER planwave_thread_words_forgotten AFTER DELETE ON planwave_thread_delegations BEGIN
      DELETE FROM planwave_thread_words WHERE rowid = old.id;
    END`,
  ],
  findTables: "SELECT 1 FROM sqlite_master WHERE name = 'planwave_thread_schema'",
  // Merges the index, so that words of what was deleted are overwritten too.
  afterRemoval: ["INSERT INTO planwave_thread_words (planwave_thread_words) VALUES ('optimize')"],
  indexWords: (words) => sql`${words}`,
  anyOf: (words) => words.map((word) => `"${word}"`).join(' OR '),
  matches: (query) => sql`words MATCH ${query}`,
  rank: () => sql`rank`,
};

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

  async function run<T>(mode: Mode, script: () => Script<T>): Promise<T> {
    // A file is made by the first entry: without one, every query finds nothing.
    if (mode !== 'append' && (await isMissing(file))) return drive(script(), () => []);
    const giveUpAtMs = performance.now() + busyMs;
    for (;;) {
      try {
        await mkdir(home, { recursive: true, mode: 0o700 });
        return connection.use((db) => transact(db, mode, script()));
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAtMs) {
          throw await explain(mode, file, error);
        }
      }
      await sleep(lookAgainMs.min + Math.random() * (lookAgainMs.max - lookAgainMs.min));
    }
  }

  return createStore(dialect, run, async () => connection.close());
}

/** Returns false when it can't be decided: then using the file reports the reason. */
async function isMissing(file: string): Promise<boolean> {
  try {
    await access(file);
    return false;
  } catch (error) {
    return getCode(error) === 'ENOENT';
  }
}

/** A connection to a file, opened at its first use, and again after a fault or when the file was replaced. */
interface SqliteConnection {
  /** Runs `work` and undoes its unfinished parts. Throws SQLite's errors. */
  use<T>(work: (db: Database.Database) => T): T;
  close(): void;
}

/**
 * Creates a connection and keeps it, because the library can't close one at will: `close` takes effect only when its
 * prepared statements are collected. One connection for each call would exhaust the open files.
 */
function createConnection(file: string): SqliteConnection {
  let current: { readonly db: Database.Database; readonly identity: string } | null = null;

  function close(): void {
    current?.db.close();
    current = null;
  }

  function attempt<T>(work: (db: Database.Database) => T): T {
    current ??= open(file);
    const { db } = current;
    try {
      return work(db);
    } catch (error) {
      undo(db);
      if (!isBusy(error)) close();
      throw error;
    }
  }

  return {
    use(work) {
      // Data in a file that was moved away would be lost.
      if (current !== null && current.identity !== identify(file)) close();
      const isKept = current !== null;
      try {
        return attempt(work);
      } catch (error) {
        // A connection keeps its mode: one from when the disk was read-only never writes.
        if (!isKept || isBusy(error)) throw error;
        return attempt(work);
      }
    },
    close,
  };
}

function open(file: string): { readonly db: Database.Database; readonly identity: string } {
  const db = new Database(file);
  try {
    // Deleted data is overwritten: nothing of a deleted thread stays in the file.
    db.exec('PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON');
    const version =
      transact(db, 'read', findVersion(dialect)) || transact(db, 'schema', makeTables(dialect));
    assertVersion(version, `in "${file}"`, 'move the file away to begin anew');
    return { db, identity: identify(file) };
  } catch (error) {
    undo(db);
    db.close();
    throw error;
  }
}

function transact<T>(db: Database.Database, mode: keyof typeof begin, script: Script<T>): T {
  db.exec(begin[mode]);
  // `all` reads to the end, and so releases the file.
  const result = drive(script, (statement, parameters) => db.prepare(statement).all(...parameters));
  db.exec('COMMIT');
  return result;
}

function drive<T>(
  script: Script<T>,
  query: (statement: string, parameters: readonly unknown[]) => readonly unknown[],
): T {
  let step = script.next();
  while (step.done !== true) step = script.next(query(step.value.sql, step.value.parameters));
  return step.value;
}

/** Rolls back an open transaction. A full disk has already ended it; a busy file has not. */
function undo(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
}

function identify(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}

const elsewhere = 'or name a PostgreSQL database by PLANWAVE_THREADS_URL';

/** Reasons and cures for SQLite's codes, by prefix. */
const explanations: readonly (readonly [code: RegExp, reason: string, cure: string])[] = [
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    'the file is damaged',
    'move it away; threads begin anew, runs lose nothing else',
  ],
  [
    /^SQLITE_(?:BUSY|LOCKED)/,
    'another process has been writing to it for seconds',
    `look for a process that was stopped in the middle, ${elsewhere}`,
  ],
  [/^SQLITE_FULL/, 'the disk is full', `free some space, ${elsewhere}`],
  [/^SQLITE_READONLY/, 'it is read-only', `let the worker's user write it, ${elsewhere}`],
  [/^SQLITE_IOERR/, 'the disk reports a fault', `check the disk, ${elsewhere}`],
];

/** Returns true when another process holds the file at this moment. */
function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(getCode(error) ?? '');
}

async function explain(mode: Mode, file: string, error: unknown): Promise<ThreadUnavailable> {
  if (error instanceof ThreadUnavailable) return error;
  const code = getCode(error) ?? '';
  const [, ...known] = explanations.find(([form]) => form.test(code)) ?? [];
  const [reason, cure] = known[0] === undefined ? await askSystem(file, error) : known;
  const doing = mode === 'read' ? 'read' : 'write';
  const named = code === '' ? '' : ` (${code})`;
  return new ThreadUnavailable(
    `Can't ${doing} the threads in "${file}": ${reason}${named}. Try: ${cure}.`,
    { cause: error },
  );
}

/** Asks the system why the file can't be opened, because SQLite does not say. */
async function askSystem(file: string, error: unknown): Promise<readonly [string, string]> {
  const refusal =
    explainCode(getCode(error)) ??
    (await access(dirname(file), constants.W_OK).then(
      () => null,
      (refused: unknown) => explainCode(getCode(refused)),
    ));
  return refusal ?? [messageOf(error), `check the file, ${elsewhere}`];
}
