/** Use of model calls, summed per delegation, wave and run; totals equal the sum of their parts. */
export interface Usage {
  /** Model calls that reached a reply, or were cut off after billing had begun. */
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
}
