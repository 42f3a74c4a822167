/** What model calls consumed. Added up per delegation, wave and run; totals equal the sum of their parts. */
export interface Usage {
  /** Model calls that reached a reply, or were cut off after they began to be billed. */
  readonly calls: number;
  /** Input tokens billed at the full price. */
  readonly input_tokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cache_creation_input_tokens: number;
  /** Input tokens read from the prompt cache. */
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  /** In millionths of a US dollar. Holds only calls whose price is known. */
  readonly cost_micro_usd: number;
  /** Calls of a model with no known price, or whose reply carried no usage. Above 0 the cost is "at least". */
  readonly unpriced_calls: number;
}
