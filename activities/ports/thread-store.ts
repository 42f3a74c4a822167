import type { PastDelegation, ThreadHistory } from '../../contracts/thread.ts';

/** A delegation as a thread keeps it. */
export interface KeptDelegation extends PastDelegation {
  /** Of the task: unique in its run. */
  readonly delegation_id: string;
}

/** What one team adds to a thread: its message, the answer, and what its leader gave out. */
export interface ThreadEntry {
  readonly thread_id: string;
  /** Kept beside the message, for whoever looks after the store. Nothing is chosen by it. */
  readonly user_id: string | null;
  readonly run_id: string;
  readonly delegation_id: string;
  /** Unix epoch seconds. */
  readonly at: number;
  readonly message: string;
  /** Null when the team ended without one. */
  readonly answer: string | null;
  readonly delegations: readonly KeptDelegation[];
}

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
   * Adds an entry. One of the same run_id and delegation_id is replaced: repeating it changes nothing, and a run that was
   * reset is kept as it ended. All of it is there when the promise resolves, or nothing.
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

  /** Gives up what is connected. A store that was closed connects again when it is used. */
  close(): Promise<void>;
}

/** A thread can't be read or written. The message names the file or the address, the reason and a cure. */
export class ThreadUnavailable extends Error {
  override readonly name = 'ThreadUnavailable';
  readonly type = 'ThreadUnavailable';
}
