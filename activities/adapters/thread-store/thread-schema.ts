import { CompiledQuery, DummyDriver, Kysely } from 'kysely';
import type { Dialect, Generated, RawBuilder } from 'kysely';
import { ThreadUnavailable } from '../../ports/thread-store.ts';
import { readVersion } from './rows.ts';
import type { RowId } from './rows.ts';

/** Number of the table version, raised with every change; a file stores its own. */
const schemaVersion = 1;

export interface Tables {
  readonly planwave_thread_entries: {
    readonly id: Generated<RowId>;
    readonly thread_id: string;
    readonly user_id: string | null;
    readonly run_id: string;
    readonly delegation_id: string;
    readonly at: number;
    readonly message: string;
    readonly answer: string | null;
  };
  /** A delegation is kept as JSON, so that a field more needs no other table. */
  readonly planwave_thread_delegations: {
    readonly id: Generated<RowId>;
    readonly entry_id: RowId;
    readonly task_id: string;
    readonly body: string;
  };
  /** The words of a delegation, for the search alone; `rowid` is the id of the delegation. */
  readonly planwave_thread_words: { readonly rowid: RowId; readonly words: string };
  readonly planwave_thread_schema: { readonly version: number };
}

/** The part of SQL that differs between databases. */
export interface ThreadDialect {
  readonly db: Kysely<Tables>;
  /** Declares a column `id` that counts up by itself. */
  readonly idColumn: string;
  /** Statements that make `planwave_thread_words`, whose rows go with their delegations. */
  readonly makeWords: readonly string[];
  /** Gives a row when the tables are there. */
  readonly findTables: string;
  /** Statements that remove what a deletion leaves behind. */
  readonly afterRemoval: readonly string[];
  /** The value of `words`, from words with spaces between them. */
  indexWords(words: string): RawBuilder<string>;
  /** A query for any of the words. Each is quoted: in quotes no word is an operator. */
  anyOf(words: readonly string[]): string;
  matches(query: string): RawBuilder<boolean>;
  /** Lower is better. */
  rank(query: string): RawBuilder<number>;
}

/**
 * The statements of one transaction, whatever database and driver it runs on: yields each statement, is resumed with its
 * rows, and returns the result.
 */
export type Script<T> = Generator<CompiledQuery, T, readonly unknown[]>;

/** Kysely as a compiler of queries: it connects to nothing, so that a script can run without waiting where SQLite does. */
export function createCompiler(parts: Omit<Dialect, 'createDriver'>): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: { ...parts, createDriver: () => new DummyDriver() } });
}

/** @returns 0 for a database without tables. */
export function* findVersion({ db, findTables }: ThreadDialect): Script<number> {
  const found = yield CompiledQuery.raw(findTables);
  if (found.length === 0) return 0;
  return readVersion(yield db.selectFrom('planwave_thread_schema').select('version').compile());
}

/** Makes the tables, unless another worker has made them meanwhile. */
export function* makeTables(dialect: ThreadDialect): Script<number> {
  if ((yield* findVersion(dialect)) === 0) {
    for (const statement of listStatements(dialect)) yield CompiledQuery.raw(statement);
  }
  return yield* findVersion(dialect);
}

function listStatements({ idColumn, makeWords }: ThreadDialect): readonly string[] {
  return [
    `CREATE TABLE planwave_thread_entries (
      id ${idColumn},
      thread_id text NOT NULL,
      user_id text,
      run_id text NOT NULL,
      delegation_id text NOT NULL,
      at double precision NOT NULL,
      message text NOT NULL,
      answer text,
      UNIQUE (run_id, delegation_id)
    )`,
    'CREATE INDEX planwave_thread_entries_by_thread ON planwave_thread_entries (thread_id, at)',
    `CREATE TABLE planwave_thread_delegations (
      id ${idColumn},
      entry_id bigint NOT NULL REFERENCES planwave_thread_entries (id) ON DELETE CASCADE,
      task_id text NOT NULL,
      body text NOT NULL
    )`,
    'CREATE INDEX planwave_thread_delegations_by_entry ON planwave_thread_delegations (entry_id)',
    ...makeWords,
    'CREATE TABLE planwave_thread_schema (version integer NOT NULL)',
    `INSERT INTO planwave_thread_schema VALUES (${schemaVersion})`,
  ];
}

/**
 * @param place of the threads, with a preposition.
 * @param elsewhere how to begin with an empty database.
 * @throws {ThreadUnavailable} when another planwave has made the tables.
 */
export function assertVersion(version: number, place: string, elsewhere: string): void {
  if (version === schemaVersion) return;
  throw new ThreadUnavailable(
    `The threads ${place} have version ${version}; this planwave knows version ${schemaVersion}. ` +
      `Try: start the planwave that wrote them, or ${elsewhere}.`,
  );
}
