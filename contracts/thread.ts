import { z } from 'zod';

/** A delegation of an earlier run of a thread, as its leader gave it and as it ended. */
export const PastDelegation = z.strictObject({
  member_id: z.string(),
  title: z.string(),
  /** Cut. */
  task: z.string(),
  status: z.string(),
  /** The short form of what came of it, or why nothing did. Cut. */
  result: z.string(),
  /** Unix epoch seconds. */
  at: z.number(),
});
export type PastDelegation = z.infer<typeof PastDelegation>;

/** What a leader is told of its thread (seed 002, phase 3). All texts are data. */
export const ThreadHistory = z.strictObject({
  /** The newest, oldest first. */
  messages: z.array(
    z.strictObject({
      role: z.enum(['user', 'assistant']),
      /** Cut. */
      text: z.string(),
      /** Unix epoch seconds. */
      at: z.number(),
    }),
  ),
  /** Those that a full-text search found for the new message, the best first, then the newest; each once. */
  delegations: z.array(PastDelegation),
});
export type ThreadHistory = z.infer<typeof ThreadHistory>;

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

/** A thread as one line of a list. */
export interface ThreadSummary {
  readonly thread_id: string;
  /** In alphabetical order. Empty when no entry names a person. */
  readonly user_ids: readonly string[];
  readonly entries: number;
  /** Of its newest entry, Unix epoch seconds. */
  readonly newest_at: number;
}

export interface ListedThreads {
  /** The one with the newest entry first. */
  readonly threads: readonly ThreadSummary[];
  /** How many there are, those that are not listed among them. */
  readonly total: number;
}

/** The newest of a thread, as it was added. */
export interface ReadThread {
  /** Oldest first. */
  readonly entries: readonly ThreadEntry[];
  /** Entries of the whole thread. 0: there is no such thread. */
  readonly total: number;
  /** Entries and delegations that stood there and could not be read; they are left out. */
  readonly unreadable: number;
}

/** Entries that go together: all of a thread, or all of a person, in whatever threads they are. */
export type EntrySelection = { readonly thread_id: string } | { readonly user_id: string };

export interface EntryCounts {
  /** Threads that have such an entry. */
  readonly threads: number;
  readonly entries: number;
  readonly delegations: number;
}
