import { z } from 'zod';

/** A delegation of an earlier run of a thread: its task and its result. */
export const PastDelegation = z.strictObject({
  member_id: z.string(),
  title: z.string(),
  /** Cut. */
  task: z.string(),
  status: z.string(),
  /** The short form of its result, or the reason why there is none. Cut. */
  result: z.string(),
  /** Unix epoch seconds. */
  at: z.number(),
});
export type PastDelegation = z.infer<typeof PastDelegation>;

/** Part of a thread that a leader is given (seed 002, phase 3). All texts are data. */
export const ThreadHistory = z.strictObject({
  /** The newest messages, oldest first. */
  messages: z.array(
    z.strictObject({
      role: z.enum(['user', 'assistant']),
      /** Cut. */
      text: z.string(),
      /** Unix epoch seconds. */
      at: z.number(),
    }),
  ),
  /** Results of a full-text search for the new message, best first, then the newest delegations; each once. */
  delegations: z.array(PastDelegation),
});
export type ThreadHistory = z.infer<typeof ThreadHistory>;

export interface KeptDelegation extends PastDelegation {
  /** Id of the task: unique in its run. */
  readonly delegation_id: string;
}

/** Entry that one team adds to a thread: its message, the answer, and its tasks. */
export interface ThreadEntry {
  readonly thread_id: string;
  /** Stored with the message for the store's administrator. It selects nothing. */
  readonly user_id: string | null;
  readonly run_id: string;
  readonly delegation_id: string;
  /** Unix epoch seconds. */
  readonly at: number;
  readonly message: string;
  /** Null when the team ended without an answer. */
  readonly answer: string | null;
  readonly delegations: readonly KeptDelegation[];
}

export interface ThreadSummary {
  readonly thread_id: string;
  /** Listed in alphabetical order. Empty when no entry names a person. */
  readonly user_ids: readonly string[];
  readonly entries: number;
  /** Unix epoch seconds of its newest entry. */
  readonly newest_at: number;
}

export interface ListedThreads {
  /** The thread with the newest entry first. */
  readonly threads: readonly ThreadSummary[];
  /** Number of all threads, listed or not. */
  readonly total: number;
}

/** The newest entries of a thread, unchanged. */
export interface ReadThread {
  /** Oldest first. */
  readonly entries: readonly ThreadEntry[];
  /** Entries of the whole thread. 0 for an unknown thread. */
  readonly total: number;
  /** Entries and delegations that could not be read; they are left out. */
  readonly unreadable: number;
}

/** Entries to remove together: all of a thread, or all of a person in every thread. */
export type EntrySelection = { readonly thread_id: string } | { readonly user_id: string };

export interface EntryCounts {
  /** Number of threads that have such an entry. */
  readonly threads: number;
  readonly entries: number;
  readonly delegations: number;
}
