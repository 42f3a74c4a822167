/**
 * Adds up what model calls consumed.
 *
 * Invariants:
 *   U1. Every field of a total is the sum of that field over its parts.
 *   U2. Work that was lost without a report has used all that was reserved for it.
 */
import type { Allowance } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';

export const noUsage: Usage = {
  calls: 0,
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  cost_micro_usd: 0,
  unpriced_calls: 0,
  unreported_calls: 0,
  unreported_tokens: 0,
  unreported_cost_micro_usd: 0,
};

/**
 * Returns the usage of work that was lost without a report. Its cost is unknown.
 *
 * @param reserved Amounts that it may have spent; null where nothing limited it. Then one call is counted, so that the
 * sum shows that it is not complete.
 */
export function lostUsage(reserved: Allowance | null): Usage {
  return {
    ...noUsage,
    unpriced_calls: 1,
    unreported_calls: reserved?.calls ?? 1,
    unreported_tokens: reserved?.tokens ?? 0,
    unreported_cost_micro_usd: reserved?.cost_micro_usd ?? 0,
  };
}

/** Returns what is in the total and not in what is known of it. */
export function subtractUsage(total: Usage, known: Usage): Usage {
  const rest = (field: keyof Usage): number => Math.max(0, total[field] - known[field]);
  return {
    calls: rest('calls'),
    input_tokens: rest('input_tokens'),
    cache_creation_input_tokens: rest('cache_creation_input_tokens'),
    cache_read_input_tokens: rest('cache_read_input_tokens'),
    output_tokens: rest('output_tokens'),
    cost_micro_usd: rest('cost_micro_usd'),
    unpriced_calls: rest('unpriced_calls'),
    unreported_calls: rest('unreported_calls'),
    unreported_tokens: rest('unreported_tokens'),
    unreported_cost_micro_usd: rest('unreported_cost_micro_usd'),
  };
}

/** Returns true when something was used, or may have been. */
export function isAnyUsage(usage: Usage): boolean {
  return Object.values(usage).some((amount: number) => amount > 0);
}

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
      unreported_calls: total.unreported_calls + usage.unreported_calls,
      unreported_tokens: total.unreported_tokens + usage.unreported_tokens,
      unreported_cost_micro_usd: total.unreported_cost_micro_usd + usage.unreported_cost_micro_usd,
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
