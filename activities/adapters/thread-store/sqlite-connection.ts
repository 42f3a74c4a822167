import { statSync } from 'node:fs';
import Database from 'libsql';
import { isBusy } from './sqlite-errors.ts';
import { ensureSchema } from './sqlite-schema.ts';

/** One connection to a file, made at its first use, and again after a fault or when another file stands there. */
export interface SqliteConnection {
  /** What `work` leaves unfinished is undone. Throws what SQLite throws. */
  use<T>(work: (db: Database.Database) => T): T;
  close(): void;
}

/**
 * A connection is kept because the library can't end one at will: `close` takes effect when the statements that it has
 * prepared are collected. One for each call would run out of open files.
 */
export function createConnection(file: string): SqliteConnection {
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
      // What is written to a file that was moved away, nobody reads.
      if (current !== null && current.identity !== identify(file)) close();
      const isKept = current !== null;
      try {
        return attempt(work);
      } catch (error) {
        // A connection stays as it was made: one from when the disk was read-only never writes.
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
    ensureSchema(db, file);
    return { db, identity: identify(file) };
  } catch (error) {
    undo(db);
    db.close();
    throw error;
  }
}

/** A full disk has ended the transaction already; a busy file has not. */
function undo(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
}

function identify(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}
