import { statSync } from 'node:fs';
import Database from 'libsql';
import { isBusy } from './sqlite-errors.ts';
import { ensureSchema } from './sqlite-schema.ts';

/** A connection to a file, opened at its first use, and again after a fault or when the file was replaced. */
export interface SqliteConnection {
  /** Runs `work` and undoes its unfinished parts. Throws SQLite's errors. */
  use<T>(work: (db: Database.Database) => T): T;
  close(): void;
}

/**
 * Creates a connection and keeps it, because the library can't close one at will: `close` takes effect only when its
 * prepared statements are collected. One connection for each call would exhaust the open files.
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
    ensureSchema(db, file);
    return { db, identity: identify(file) };
  } catch (error) {
    undo(db);
    db.close();
    throw error;
  }
}

/** Rolls back an open transaction. A full disk has already ended it; a busy file has not. */
function undo(db: Database.Database): void {
  if (db.inTransaction) db.exec('ROLLBACK');
}

function identify(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}
