/**
 * Adds up what model calls consumed.
 *
 * Invariants:
 *   U1. Every field of a total is the sum of that field over its parts.
 */
import type { Usage } from '../../contracts/usage.ts';

export const noUsage: Usage = {
  calls: 0,
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  cost_micro_usd: 0,
  unpriced_calls: 0,
};

export function addUsage(...usages: readonly Usage[]): Usage {
  return usages.reduce<Usage>(
    (total, usage) => ({
      calls: total.calls + usage.calls,
      input_tokens: total.input_tokens + usage.input_tokens,
      cache_creation_input_tokens:
        total.cache_creation_input_tokens + usage.cache_creation_input_tokens,
      cache_read_input_tokens: total.cache_read_input_tokens + usage.cache_read_input_tokens,
      output_tokens: total.output_tokens + usage.output_tokens,
      cost_micro_usd: total.cost_micro_usd + usage.cost_micro_usd,
      unpriced_calls: total.unpriced_calls + usage.unpriced_calls,
    }),
    noUsage,
  );
}

/** Reads a usage out of something that came over the wire. @returns null when it is none. */
export function readUsage(value: unknown): Usage | null {
  return isUsage(value) ? value : null;
}

function isUsage(value: unknown): value is Usage {
  if (typeof value !== 'object' || value === null) return false;
  const numbers = new Map(Object.entries(value));
  return Object.keys(noUsage).every((name) => typeof numbers.get(name) === 'number');
}
