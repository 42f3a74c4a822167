import { z } from 'zod';
import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  type Dialect,
  type Generated,
  type RawBuilder,
} from 'kysely';
import {
  PastDelegation,
  type EntryCounts,
  type KeptDelegation,
  type ListedThreads,
  type ReadThread,
  type ThreadEntry,
  type ThreadHistory,
  type ThreadSummary,
} from '../../../contracts/thread.ts';
import {
  type FoundDelegation,
  type FoundDelegations,
  ThreadUnavailable,
} from '../../ports/thread-store.ts';

/** Readers of rows. A row may have been written by another version, or by a person. */

/** A number in SQLite; a text in PostgreSQL, whose numbers may be larger than those of JavaScript. */
type RowId = number | string;
const RowId = z.coerce.string();

/** Seconds; 0 for a time beyond every calendar, so that an entry with a wrong time can be shown and deleted too. */
const Time = z.number().min(0).max(8.64e12).catch(0);

const IdRow = z.object({ id: RowId });
const VersionRow = z.object({ version: z.number() }).catch({ version: Number.NaN });
const MessageRow = z.object({ message: z.string(), answer: z.string().nullable(), at: z.number() });
const DelegationRow = z.object({ run_id: z.string(), task_id: z.string(), body: z.string() });
const SummaryRow = z.object({ thread_id: z.string(), entries: z.number(), newest_at: Time });
const TotalRow = z.object({ total: z.number() });
const UserRow = z.object({ thread_id: z.string(), user_id: z.string() });
const EntryRow = z.object({
  id: RowId,
  thread_id: z.string(),
  user_id: z.string().nullable(),
  run_id: z.string(),
  delegation_id: z.string(),
  at: Time,
  message: z.string(),
  answer: z.string().nullable(),
});
const TaskRow = z.object({ entry_id: RowId, task_id: z.string(), body: z.string() });
const CountsRow = z.object({ threads: z.number(), entries: z.number(), delegations: z.number() });

export function readId(row: unknown): string {
  return IdRow.parse(row).id;
}

/** @returns not a number when the row can't be read. */
function readVersion([row]: readonly unknown[]): number {
  return VersionRow.parse(row).version;
}

/**
 * @param rows Newest first.
 * @returns the newest messages and answers, oldest first. Unreadable rows are skipped.
 */
export function readMessages(rows: readonly unknown[], max: number): ThreadHistory['messages'] {
  const messages = readAll(MessageRow, rows.toReversed()).flatMap(
    ({ message, answer, at }): ThreadHistory['messages'] => [
      { role: 'user', text: message, at },
      ...(answer === null ? [] : [{ role: 'assistant' as const, text: answer, at }]),
    ],
  );
  return messages.slice(-max);
}

/** Reads delegations in the order of the rows. */
export function readDelegations(rows: readonly unknown[]): FoundDelegations {
  const delegations = readAll(DelegationRow, rows).flatMap((row): FoundDelegation[] => {
    const delegation = readBody(row.body);
    const key = JSON.stringify([row.run_id, row.task_id]);
    return delegation === null ? [] : [{ key, delegation }];
  });
  return { delegations, unreadable: rows.length - delegations.length };
}

/**
 * Keeps the order of the rows. A thread that can't be read is not listed, but counted.
 *
 * @param userRows each person of each thread.
 */
export function readSummaries(
  rows: readonly unknown[],
  userRows: readonly unknown[],
): ListedThreads {
  const users = groupBy(
    readAll(UserRow, userRows),
    (row) => row.thread_id,
    (row) => row.user_id,
  );
  const threads = readAll(SummaryRow, rows).map((row): ThreadSummary => {
    return { ...row, user_ids: (users.get(row.thread_id) ?? []).toSorted() };
  });
  return { threads, total: readAll(TotalRow, rows.slice(0, 1))[0]?.total ?? 0 };
}

/**
 * @param rows Entries, newest first.
 * @param taskRows Their delegations, in the order in which they were added.
 */
export function readEntries(
  rows: readonly unknown[],
  taskRows: readonly unknown[],
): Pick<ReadThread, 'entries' | 'unreadable'> {
  const tasks = readAll(TaskRow, taskRows).flatMap(({ entry_id, task_id, body }) => {
    const delegation = readBody(body);
    return delegation === null
      ? []
      : [{ entry_id, task: { delegation_id: task_id, ...delegation } }];
  });
  const tasksOf = groupBy(
    tasks,
    ({ entry_id }) => entry_id,
    ({ task }) => task,
  );
  const entries = readAll(EntryRow, rows.toReversed()).map(({ id, ...entry }): ThreadEntry => {
    return { ...entry, delegations: tasksOf.get(id) ?? [] };
  });
  const readable = entries.length + tasks.length;
  return { entries, unreadable: rows.length + taskRows.length - readable };
}

/** @returns zeros where there are no rows. */
export function readCounts(...rows: readonly (readonly unknown[])[]): EntryCounts {
  const nothing: EntryCounts = { threads: 0, entries: 0, delegations: 0 };
  return CountsRow.parse(Object.assign(nothing, ...rows.flat()));
}

function readAll<T>(shape: z.ZodType<T>, rows: readonly unknown[]): T[] {
  return rows.flatMap((row) => {
    const read = shape.safeParse(row);
    return read.success ? [read.data] : [];
  });
}

function groupBy<T, V>(
  items: readonly T[],
  keyOf: (item: T) => string,
  valueOf: (item: T) => V,
): ReadonlyMap<string, readonly V[]> {
  const groups = new Map<string, V[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    groups.set(keyOf(item), group);
    group.push(valueOf(item));
  }
  return groups;
}

/** Reads the text of `writeBody`; null when it can't be read. */
function readBody(body: string): PastDelegation | null {
  try {
    return PastDelegation.parse(JSON.parse(body));
  } catch {
    return null;
  }
}

export function writeBody(delegation: KeptDelegation): string {
  const { member_id, title, task, status, result, at } = delegation;
  return JSON.stringify({ member_id, title, task, status, result, at } satisfies PastDelegation);
}

/** Replaces NUL characters: PostgreSQL refuses them, and SQLite hides the text behind one. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\0', '\ufffd');
}

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
