import { z } from 'zod';

/** Typed input of an archival, all optional: `{"run_id":"my-run"}`. */
export const ArchivalInput = z.strictObject({
  /** A run that begins: its own sessions are current. If undefined, no run is left out. */
  run_id: z.string().min(1).max(200).optional(),
});
export type ArchivalInput = z.infer<typeof ArchivalInput>;

/** A run that ended without a word, such as one that was terminated, and whose sessions are archived now. */
export interface ArchivedRun {
  readonly run_id: string;
  /** Number of its `session_current.json` files that got the names of ended ones. */
  readonly sessions: number;
}

export interface ArchivalResult {
  readonly archived: readonly ArchivedRun[];
  /** Each run that could not be archived, with the reason; at most `archiveFailuresMax`. Nothing of it is lost. */
  readonly failures: readonly string[];
}

export interface ArchiveSessionsInput {
  /** Unchecked; validated in the activity. */
  readonly input: unknown;
  /** Unix epoch seconds. */
  readonly now: number;
}

export type ArchiveSessionsResult =
  | ({ readonly type: 'archived' } & ArchivalResult)
  | { readonly type: 'refused'; readonly reason: string };

/** Most failures that an archival lists. */
export const archiveFailuresMax = 10;
