import type { ArtifactBatch } from './artifact-store.ts';

/**
 * Key of one scheduled activity. Its retries share the key, so an attempt finds the replies that an earlier one paid
 * for.
 */
export interface LedgerKey {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly activity_id: string;
}

/** An entry of a run, with what it belongs to. */
export interface LedgerEntry {
  readonly key: LedgerKey;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Unix epoch milliseconds of the attempt's first and of its newest entry. */
  readonly begun_at: number;
  readonly written_at: number;
  readonly value: unknown;
}

/**
 * Ledger of activity results. A result is written before the activity returns and read first on a retry: a worker that
 * dies between the model's reply and the completion does not buy the reply again.
 *
 * Each attempt has an entry of its own, so a late attempt of a suspended worker overwrites no later one.
 */
export interface ReplyLedger {
  /**
   * Returns the entries of an activity's attempts, oldest first. A torn or damaged entry counts as none.
   *
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: LedgerKey): Promise<readonly unknown[]>;

  /**
   * Lists the entries of a run: those of its workflow and of all workflows below it, also of executions that were
   * terminated or that a reset took back. A torn or damaged entry counts as none.
   *
   * @param place Workflow id of the run, or of a part of it.
   * @param since Unix epoch milliseconds. Entries that were written before are left out.
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  list(place: string, since: number): Promise<readonly LedgerEntry[]>;

  /**
   * Stores `value`, which must survive JSON, replacing this attempt's earlier entry. When the promise resolves, the
   * entry survives a power cut, and so do the artifacts of `batch`.
   *
   * @param attempt Number of the attempt, from 1.
   * @param batch Artifacts that are stored with the entry, both or neither; none by default.
   * @param time Unix epoch milliseconds at which the entry counts as written, for a copy. Two entries of an attempt differ in it.
   * Default: now.
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(
    key: LedgerKey,
    attempt: number,
    value: unknown,
    batch?: ArtifactBatch,
    time?: number,
  ): Promise<void>;
}
