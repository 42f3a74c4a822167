import type {
  EntryCounts,
  EntrySelection,
  ListedThreads,
  PastDelegation,
  ReadThread,
  ThreadEntry,
  ThreadHistory,
} from '../../contracts/thread.ts';

export interface FoundDelegation {
  /** Names it among all delegations of all threads. */
  readonly key: string;
  readonly delegation: PastDelegation;
}

export interface FoundDelegations {
  readonly delegations: readonly FoundDelegation[];
  /** How many stood in the store and could not be read; they are left out. */
  readonly unreadable: number;
}

/** The newest of a thread. */
export interface KeptThread extends FoundDelegations {
  /** Oldest first. */
  readonly messages: ThreadHistory['messages'];
}

export interface LoadThreadOptions {
  /** Messages and answers, at most. */
  readonly messages: number;
  readonly delegations: number;
  /** A run whose entries are left out. */
  readonly exceptRun: string;
}

export interface ListThreadsOptions {
  /** Threads, at most; at least 1. */
  readonly limit: number;
  /** Only threads with entries of this person, which are counted alone. Null: all. */
  readonly userId: string | null;
}

/**
 * Keeps the threads of teams across runs. It is a memory, not the truth of a run: a team goes on without it.
 *
 * Nothing is connected before the first use, and every call ends within seconds, whatever state the database is in.
 */
export interface ThreadStore {
  /**
   * The newest of a thread; nothing when there is no such thread. Delegations come newest first.
   *
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  load(threadId: string, options: LoadThreadOptions): Promise<KeptThread>;

  /**
   * Adds an entry. One of the same run_id and delegation_id is replaced, unless it is of a later time: repeating it changes
   * nothing, a run that was reset is kept as it ended then, and a worker that was suspended puts no older end over that. All
   * of it is there when the promise resolves, or nothing.
   *
   * @throws {ThreadUnavailable} when the store can't be written.
   */
  append(entry: ThreadEntry): Promise<void>;

  /**
   * The delegations of a thread that share words with a text, the best first; of equals the newest.
   *
   * @param query any text; its words are looked for, and nothing in it is syntax.
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  search(
    threadId: string,
    query: string,
    options: { readonly limit: number; readonly exceptRun: string },
  ): Promise<FoundDelegations>;

  /**
   * Which threads there are.
   *
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  list(options: ListThreadsOptions): Promise<ListedThreads>;

  /**
   * The newest entries of a thread, as they were added.
   *
   * @param limit entries, at most; at least 1.
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  read(threadId: string, limit: number): Promise<ReadThread>;

  /** @throws {ThreadUnavailable} when the store can't be read. */
  count(which: EntrySelection): Promise<EntryCounts>;

  /**
   * Deletes entries with their delegations and the words by which those are found, all or none.
   *
   * @returns what was deleted.
   * @throws {ThreadUnavailable} when the store can't be written.
   */
  remove(which: EntrySelection): Promise<EntryCounts>;

  /** Gives up what is connected. A store that was closed connects again when it is used. */
  close(): Promise<void>;
}

/** A thread can't be read or written. The message names the file or the address, the reason and a cure. */
export class ThreadUnavailable extends Error {
  override readonly name = 'ThreadUnavailable';
  readonly type = 'ThreadUnavailable';
}
