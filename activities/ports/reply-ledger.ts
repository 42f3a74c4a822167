/** One scheduled activity. Its retries share the key, so an attempt finds what an earlier one paid for. */
export interface LedgerKey {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly activity_id: string;
}

/**
 * Remembers what an activity is about to return. It is written before the activity returns and read first on a retry:
 * a worker that dies between the model's reply and the completion does not buy the reply again.
 *
 * Each attempt has an entry of its own. So one that comes late, because its worker was suspended, takes nothing away from
 * those that were made meanwhile.
 */
export interface ReplyLedger {
  /**
   * What the attempts of an activity left, the first one's first. A torn or damaged entry counts as none.
   *
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: LedgerKey): Promise<readonly unknown[]>;

  /**
   * Stores `value`, which must survive JSON, replacing what this attempt has stored before. When the promise resolves, the
   * entry survives a power cut.
   *
   * @param attempt from 1.
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(key: LedgerKey, attempt: number, value: unknown): Promise<void>;
}
