/** One scheduled activity. Its retries share the key, so an attempt finds what an earlier one paid for. */
export interface LedgerKey {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly activity_id: string;
}

/**
 * Remembers what an activity is about to return. It is written before the activity returns and read first on a retry:
 * a worker that dies between the model's reply and the completion does not buy the reply again.
 */
export interface ReplyLedger {
  /**
   * The value stored under `key`, or null when there is none. A torn or damaged entry counts as none.
   *
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: LedgerKey): Promise<unknown>;

  /**
   * Stores `value`, which must survive JSON, replacing what was there. When the promise resolves, the entry survives a
   * power cut.
   *
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(key: LedgerKey, value: unknown): Promise<void>;
}
