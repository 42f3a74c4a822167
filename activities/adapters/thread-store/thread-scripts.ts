import { CompiledQuery, sql } from 'kysely';
import type {
  EntryCounts,
  EntrySelection,
  KeptDelegation,
  ThreadEntry,
} from '../../../contracts/thread.ts';
import { listTerms } from '../../../core/text/hash-text.ts';
import type { FoundDelegations, ThreadStore } from '../../ports/thread-store.ts';
import {
  readCounts,
  readDelegations,
  readEntries,
  readId,
  readMessages,
  readSummaries,
  storable,
  writeBody,
  type Script,
  type ThreadDialect,
} from './thread-schema.ts';

/** Different words of a message that are looked for, the first of it: a longer one says at its beginning what it wants. */
const searchTermsMax = 100;

/** The kind of a transaction: `remove` sees no entry that is added after it has counted. */
export type Mode = 'read' | 'append' | 'remove';

/**
 * The store of threads of any database.
 *
 * @param run carries out a script in one transaction, as often as it takes, and throws ThreadUnavailable.
 */
export function createStore(
  dialect: ThreadDialect,
  run: <T>(mode: Mode, script: () => Script<T>) => Promise<T>,
  close: () => Promise<void>,
): ThreadStore {
  return {
    load: (...asked) => run('read', () => load(dialect, ...asked)),
    append: (entry) => run('append', () => append(dialect, entry)),
    async search(threadId, query, options) {
      const words = listTerms(query).slice(0, searchTermsMax);
      if (words.length === 0) return { delegations: [], unreadable: 0 };
      return run('read', () => search(dialect, threadId, dialect.anyOf(words), options));
    },
    list: (options) => run('read', () => list(dialect, options)),
    read: (...asked) => run('read', () => read(dialect, ...asked)),
    count: (which) => run('read', () => count(dialect, which)),
    remove: (which) => run('remove', () => remove(dialect, which)),
    close,
  };
}

/** A method of the store as a script. */
type ScriptOf<M extends keyof ThreadStore> = (
  dialect: ThreadDialect,
  ...asked: Parameters<ThreadStore[M]>
) => Script<Awaited<ReturnType<ThreadStore[M]>>>;

const load: ScriptOf<'load'> = function* (dialect, threadId, { messages, delegations, exceptRun }) {
  const entries = yield dialect.db
    .selectFrom('planwave_thread_entries')
    .select(['message', 'answer', 'at'])
    .where('thread_id', '=', storable(threadId))
    .where('run_id', '<>', storable(exceptRun))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(messages)
    .compile();
  const newest = yield delegationsOf(dialect, threadId, exceptRun).limit(delegations).compile();
  return { messages: readMessages(entries, messages), ...readDelegations(newest) };
};

function* search(
  dialect: ThreadDialect,
  threadId: string,
  query: string,
  { limit, exceptRun }: { readonly limit: number; readonly exceptRun: string },
): Script<FoundDelegations> {
  const found = yield delegationsOf(dialect, threadId, exceptRun)
    .innerJoin('planwave_thread_words as word', 'word.rowid', 'delegation.id')
    .where(dialect.matches(query))
    .clearOrderBy()
    .orderBy(dialect.rank(query))
    .orderBy('at', 'desc')
    .orderBy('delegation.id', 'desc')
    .limit(limit)
    .compile();
  return readDelegations(found);
}

/** Delegations of a thread, newest first, without those of one run. */
function delegationsOf({ db }: ThreadDialect, threadId: string, exceptRun: string) {
  return db
    .selectFrom('planwave_thread_delegations as delegation')
    .innerJoin('planwave_thread_entries as entry', 'entry.id', 'entry_id')
    .select(['run_id', 'task_id', 'body'])
    .where('thread_id', '=', storable(threadId))
    .where('run_id', '<>', storable(exceptRun))
    .orderBy('at', 'desc')
    .orderBy('delegation.id', 'desc');
}

/** The upsert locks the entry until the end, so that two workers that add the same one take turns. */
const append: ScriptOf<'append'> = function* (dialect, entry) {
  const { thread_id, user_id, run_id, delegation_id, at, message, answer } = entry;
  const table = 'planwave_thread_entries';
  const [added] = yield dialect.db
    .insertInto(table)
    .values({
      thread_id: storable(thread_id),
      user_id: storable(user_id),
      run_id: storable(run_id),
      delegation_id: storable(delegation_id),
      at,
      message: storable(message),
      answer: storable(answer),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['run_id', 'delegation_id'])
        .doUpdateSet((excluded) => ({
          thread_id: excluded.ref('excluded.thread_id'),
          user_id: excluded.ref('excluded.user_id'),
          at: excluded.ref('excluded.at'),
          message: excluded.ref('excluded.message'),
          answer: excluded.ref('excluded.answer'),
        }))
        .whereRef(`${table}.at`, '<=', 'excluded.at'),
    )
    .returning('id')
    .compile();
  // An entry of a later time is there otherwise.
  if (added !== undefined) yield* replaceDelegations(dialect, readId(added), entry);
};

function* replaceDelegations(
  { db, ...dialect }: ThreadDialect,
  entryId: string,
  { delegations }: ThreadEntry,
): Script<void> {
  yield db.deleteFrom('planwave_thread_delegations').where('entry_id', '=', entryId).compile();
  for (const delegation of delegations) {
    const [added] = yield db
      .insertInto('planwave_thread_delegations')
      .values({
        entry_id: entryId,
        task_id: storable(delegation.delegation_id),
        body: writeBody(delegation),
      })
      .returning('id')
      .compile();
    yield db
      .insertInto('planwave_thread_words')
      .values({ rowid: readId(added), words: dialect.indexWords(wordsOf(delegation).join(' ')) })
      .compile();
  }
}

/** The words by which a delegation is found. */
function wordsOf({ member_id, title, task, result }: KeptDelegation): readonly string[] {
  return listTerms([title, member_id, task, result].join('\n'));
}

const list: ScriptOf<'list'> = function* ({ db }, { limit, userId }) {
  const entries = db
    .selectFrom('planwave_thread_entries')
    .$if(userId !== null, (chosen) => chosen.where('user_id', '=', storable(userId)));
  const newest = entries
    .select('thread_id')
    .groupBy('thread_id')
    .orderBy(({ fn }) => fn.max('at'), 'desc')
    .orderBy('thread_id')
    .limit(limit);
  const threads = yield newest
    .select(({ fn }) => [
      countAll.as('entries'),
      fn.max('at').as('newest_at'),
      sql<number>`cast(count(*) over () as integer)`.as('total'),
    ])
    .compile();
  const users = yield entries
    .select(['thread_id', 'user_id'])
    .distinct()
    .where('user_id', 'is not', null)
    .where('thread_id', 'in', newest)
    .compile();
  return readSummaries(threads, users);
};

const read: ScriptOf<'read'> = function* (dialect, threadId, limit) {
  const { entries: total } = yield* count(dialect, { thread_id: threadId });
  const newest = dialect.db
    .selectFrom('planwave_thread_entries')
    .where('thread_id', '=', storable(threadId))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  const entries = yield newest.selectAll().compile();
  const tasks = yield dialect.db
    .selectFrom('planwave_thread_delegations')
    .select(['entry_id', 'task_id', 'body'])
    .where('entry_id', 'in', newest.select('id'))
    .orderBy('id')
    .compile();
  return { ...readEntries(entries, tasks), total };
};

function* count({ db }: ThreadDialect, which: EntrySelection): Script<EntryCounts> {
  const [column, name] = toCondition(which);
  const entries = db.selectFrom('planwave_thread_entries').where(column, '=', name);
  const chosen = yield entries
    .select([sql<number>`cast(count(distinct thread_id) as integer)`.as('threads')])
    .select(countAll.as('entries'))
    .compile();
  const tasks = yield db
    .selectFrom('planwave_thread_delegations')
    .select(countAll.as('delegations'))
    .where('entry_id', 'in', entries.select('id'))
    .compile();
  return readCounts(chosen, tasks);
}

/** Deletes entries; their delegations and words go with them. */
function* remove(dialect: ThreadDialect, which: EntrySelection): Script<EntryCounts> {
  const removed = yield* count(dialect, which);
  const [column, name] = toCondition(which);
  yield dialect.db.deleteFrom('planwave_thread_entries').where(column, '=', name).compile();
  for (const statement of dialect.afterRemoval) yield CompiledQuery.raw(statement);
  return removed;
}

/** Counts in a small number: PostgreSQL's own may be larger than JavaScript's. */
const countAll = sql<number>`cast(count(*) as integer)`;

function toCondition(which: EntrySelection) {
  return 'thread_id' in which
    ? (['thread_id', storable(which.thread_id)] as const)
    : (['user_id', storable(which.user_id)] as const);
}
