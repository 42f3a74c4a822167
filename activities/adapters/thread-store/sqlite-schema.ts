import type Database from 'libsql';
import { ThreadUnavailable } from '../../ports/thread-store.ts';

/** Number of the table version, raised with every change; a file stores its own. */
const schemaVersion = 1;

/**
 * A delegation is stored as JSON, so that a new field needs no other table, with its words beside it for the search.
 * The words come from `listTerms`; the tokenizer only has to keep them.
 */
const schema = `
  CREATE TABLE thread_entries (
    id INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    user_id TEXT,
    run_id TEXT NOT NULL,
    delegation_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    message TEXT NOT NULL,
    answer TEXT,
    UNIQUE (run_id, delegation_id)
  );
  CREATE INDEX thread_entries_by_thread ON thread_entries (thread_id, at);
  CREATE TABLE thread_delegations (
    id INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL REFERENCES thread_entries (id) ON DELETE CASCADE,
    task_id TEXT NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX thread_delegations_by_entry ON thread_delegations (entry_id);
  CREATE VIRTUAL TABLE thread_words USING fts5 (
    words, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
  );
  CREATE TRIGGER thread_words_forgotten AFTER DELETE ON thread_delegations BEGIN
    DELETE FROM thread_words WHERE rowid = old.id;
  END;
  PRAGMA user_version = ${schemaVersion};
`;

/**
 * Creates the tables of a new file. Two workers that open it at once create them once.
 *
 * @throws {ThreadUnavailable} when a newer planwave has created them.
 */
export function ensureSchema(db: Database.Database, file: string): void {
  // Deleted data is overwritten: nothing of a deleted thread stays in the file.
  db.exec('PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON');
  if (readVersion(db) === 0) {
    db.exec('BEGIN IMMEDIATE');
    if (readVersion(db) === 0) db.exec(schema);
    db.exec('COMMIT');
  }
  const version = readVersion(db);
  if (version === schemaVersion) return;
  throw new ThreadUnavailable(
    `The threads in "${file}" have version ${version}; this planwave knows version ${schemaVersion}. ` +
      'Try: start the planwave that wrote them, or move the file away to begin anew.',
  );
}

function readVersion(db: Database.Database): number {
  // `all` reads to the end, and so releases the file.
  const [row] = db.prepare('PRAGMA user_version').all();
  const isVersion = typeof row === 'object' && row !== null && 'user_version' in row;
  return isVersion ? Number(row.user_version) : Number.NaN;
}
