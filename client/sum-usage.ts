import type { Usage } from '../contracts/usage.ts';

/** Every field of the total is the sum of that field over its parts. */
export function sumUsage(first: Usage, ...others: readonly Usage[]): Usage {
  return others.reduce(
    (a, b) => ({
      calls: a.calls + b.calls,
      input_tokens: a.input_tokens + b.input_tokens,
      cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
      cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
      output_tokens: a.output_tokens + b.output_tokens,
      cost_micro_usd: a.cost_micro_usd + b.cost_micro_usd,
      unpriced_calls: a.unpriced_calls + b.unpriced_calls,
    }),
    first,
  );
}
