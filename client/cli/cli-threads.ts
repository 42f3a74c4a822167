import type {
  EntryCounts,
  EntrySelection,
  ListedThreads,
  ReadThread,
} from '../../contracts/thread.ts';

/**
 * The threads of teams, for people who look into them and delete them. Needs no server and no worker.
 *
 * Every method rejects with a CliError when the threads can't be read or written.
 */
export interface CliThreads {
  /** @param options `userId`: only entries of this person, or null for all. */
  list(options: { readonly limit: number; readonly userId: string | null }): Promise<ListedThreads>;
  /** @param limit entries, the newest, at most. */
  read(threadId: string, limit: number): Promise<ReadThread>;
  count(which: EntrySelection): Promise<EntryCounts>;
  /** Returns what was deleted. */
  remove(which: EntrySelection): Promise<EntryCounts>;
}
