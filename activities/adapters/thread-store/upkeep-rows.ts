import { z } from 'zod';
import type {
  EntryCounts,
  KeptDelegation,
  ListedThreads,
  ReadThread,
  ThreadEntry,
  ThreadSummary,
} from '../../../contracts/thread.ts';
import { readBody } from './rows.ts';

/** Rows of both databases for the upkeep of threads. */

/** Seconds; 0 for a time beyond every calendar, so that an entry with a wrong time can be shown and deleted too. */
const Time = z.number().min(0).max(8.64e12).catch(0);

/** A number in SQLite, a text in PostgreSQL, whose numbers can be larger than JavaScript's. */
const RowId = z.coerce.string();

const SummaryRow = z.object({
  thread_id: z.string(),
  entries: z.number(),
  newest_at: Time,
  /** A JSON array. */
  user_ids: z.string(),
});

/** Total that each row of a list repeats. */
const TotalRow = z.object({ total: z.number() });

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

const CountsRow = z.object({
  threads: z.number(),
  entries: z.number(),
  delegations: z.number(),
});

/** Reads summaries in the order of the rows. An unreadable thread is not listed, but counted. */
export function readSummaries(rows: readonly unknown[]): ListedThreads {
  const threads = rows.flatMap((row): ThreadSummary[] => {
    const read = SummaryRow.safeParse(row);
    if (!read.success) return [];
    const user_ids = z.array(z.string()).parse(JSON.parse(read.data.user_ids));
    return [{ ...read.data, user_ids: user_ids.toSorted() }];
  });
  const [first] = rows;
  return { threads, total: first === undefined ? 0 : TotalRow.parse(first).total };
}

/**
 * @param rows Entries, newest first.
 * @param taskRows Their delegations, in the order in which they were added.
 */
export function readEntries(
  rows: readonly unknown[],
  taskRows: readonly unknown[],
): Pick<ReadThread, 'entries' | 'unreadable'> {
  const tasks = new Map<string, KeptDelegation[]>();
  let unreadable = 0;
  for (const row of taskRows) {
    const { data } = TaskRow.safeParse(row);
    const delegation = data === undefined ? null : readBody(data.body);
    if (data === undefined || delegation === null) {
      unreadable += 1;
      continue;
    }
    const { entry_id, task_id } = data;
    tasks.set(entry_id, [
      ...(tasks.get(entry_id) ?? []),
      { delegation_id: task_id, ...delegation },
    ]);
  }
  const entries = rows.toReversed().flatMap((row): ThreadEntry[] => {
    const { data } = EntryRow.safeParse(row);
    if (data === undefined) return [];
    const { id, ...entry } = data;
    return [{ ...entry, delegations: tasks.get(id) ?? [] }];
  });
  return { entries, unreadable: unreadable + rows.length - entries.length };
}

export function readCounts([row]: readonly unknown[]): EntryCounts {
  return CountsRow.parse(row);
}
