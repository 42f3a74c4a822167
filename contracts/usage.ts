/** Use of model calls, summed per delegation, wave and run; totals equal the sum of their parts. */
export interface Usage {
  /** Model calls whose reply arrived, or was cut off after billing had begun. */
  readonly calls: number;
  /** Input tokens billed at the full price. */
  readonly input_tokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cache_creation_input_tokens: number;
  /** Input tokens read from the prompt cache. */
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  /** Millionths of a US dollar. Includes only calls whose price is known. */
  readonly cost_micro_usd: number;
  /** Calls of a model with no known price, or whose reply carried no usage. Above 0 the cost is "at least". */
  readonly unpriced_calls: number;
  /**
   * Requests that may have been billed although no reply told their usage: killed attempts, faulty replies, lost work.
   * Not among `calls`. The budget counts these three fields as spent.
   */
  readonly unreported_calls: number;
  /** Most tokens that were used without a report, by those requests and by replies without usage. */
  readonly unreported_tokens: number;
  /** Most that they cost, in millionths of a US dollar, as far as the price is known. */
  readonly unreported_cost_micro_usd: number;
}

/** Usage of a run as far as it knows. */
export interface KnownSpent {
  readonly usage: Usage;
  /** Unix epoch milliseconds at which the run began. */
  readonly since: number;
}
