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
  /** Unique among all delegations of all threads. */
  readonly key: string;
  readonly delegation: PastDelegation;
}

export interface FoundDelegations {
  readonly delegations: readonly FoundDelegation[];
  /** Number of unreadable delegations, and of a loaded thread also messages, which are left out. */
  readonly unreadable: number;
}

/** The newest part of a thread. */
export interface KeptThread extends FoundDelegations {
  /** Oldest first. */
  readonly messages: ThreadHistory['messages'];
}

export interface LoadThreadOptions {
  /** Most messages and answers. */
  readonly messages: number;
  readonly delegations: number;
  /** A run whose entries are left out. */
  readonly exceptRun: string;
}

export interface ListThreadsOptions {
  /** Most threads; at least 1. */
  readonly limit: number;
  /** Only threads with entries of this person, and only these entries are counted. Null for all. */
  readonly userId: string | null;
}

/**
 * Store of teams' threads across runs. A thread is a memory, not the truth of a run: a team can go on without it.
 *
 * Nothing connects before the first use, and every call ends within seconds, whatever state the database is in.
 */
export interface ThreadStore {
  /**
   * Loads the newest part of a thread; empty for an unknown one. Delegations are listed newest first.
   *
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  load(threadId: string, options: LoadThreadOptions): Promise<KeptThread>;

  /**
   * Adds an entry. It replaces one of the same run_id and delegation_id, unless that has a later time: repeating it
   * changes nothing, a run that was reset keeps its newest end, and a suspended worker can't overwrite it. When the
   * promise resolves, the entry is complete; otherwise nothing was added.
   *
   * @throws {ThreadUnavailable} when the store can't be written.
   */
  append(entry: ThreadEntry): Promise<void>;

  /**
   * Finds the delegations of a thread that share words with a text, best first; of equals the newest.
   *
   * @param query Any text; its words are searched, and nothing in it is syntax.
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  search(
    threadId: string,
    query: string,
    options: { readonly limit: number; readonly exceptRun: string },
  ): Promise<FoundDelegations>;

  /**
   * Lists the threads.
   *
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  list(options: ListThreadsOptions): Promise<ListedThreads>;

  /**
   * Reads the newest entries of a thread, unchanged.
   *
   * @param limit Most entries; at least 1.
   * @throws {ThreadUnavailable} when the store can't be read.
   */
  read(threadId: string, limit: number): Promise<ReadThread>;

  /** @throws {ThreadUnavailable} when the store can't be read. */
  count(which: EntrySelection): Promise<EntryCounts>;

  /**
   * Deletes entries with their delegations and their search words, all or none.
   *
   * @returns the number of deleted entries.
   * @throws {ThreadUnavailable} when the store can't be written.
   */
  remove(which: EntrySelection): Promise<EntryCounts>;

  /** Closes connections. A closed store connects again when it is used. */
  close(): Promise<void>;
}

/** A thread can't be read or written. The message names the file or the address, the reason and a cure. */
export class ThreadUnavailable extends Error {
  override readonly name = 'ThreadUnavailable';
  readonly type = 'ThreadUnavailable';
}
