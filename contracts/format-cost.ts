/**
 * Formats costs for people. The engine and the client show the same sum in the same words.
 *
 * Invariants:
 *   UF1. An unknown price is never shown as a number, and a total that lacks one is shown as "at least".
 *   UF2. The amount after "at least" is never more than the sum.
 */
import type { Usage } from './usage.ts';

/** Returns `$0.0123`, `at least $0.01` when the price of a call is missing, `cost unknown` when no price is known. */
export function formatCost(usage: Pick<Usage, 'cost_micro_usd' | 'unpriced_calls'>): string {
  if (usage.unpriced_calls === 0) return formatDollars(usage.cost_micro_usd);
  if (usage.cost_micro_usd === 0) return 'cost unknown';
  return formatLeastDollars(usage.cost_micro_usd);
}

/**
 * Returns `$0.0123` or `$1.20`: four decimals below a dollar, because one call often costs less than a cent, and two
 * above.
 *
 * @param microUsd Millionths of a US dollar.
 */
export function formatDollars(microUsd: number): string {
  if (microUsd > 0 && microUsd < 100) return 'less than $0.0001';
  return roundDollars(microUsd, Math.round);
}

/**
 * Returns `at least $0.0123` for an incomplete sum in millionths of a US dollar. Rounded down, so that it stays true.
 */
export function formatLeastDollars(microUsd: number): string {
  return `at least ${roundDollars(microUsd, Math.floor)}`;
}

function roundDollars(microUsd: number, round: (value: number) => number): string {
  if (microUsd >= 1_000_000) return `$${(round(microUsd / 10_000) / 100).toFixed(2)}`;
  const text = (round(microUsd / 100) / 10_000).toFixed(4);
  return `$${text.replace(/0{1,2}$/, '')}`;
}
