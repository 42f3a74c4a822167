/**
 * Usage in words, for people.
 *
 * Invariants:
 *   UF1. A price that is not known is never shown as a number, and a total that lacks one is shown as "at least".
 */
import type { FanOutEstimate } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';

/** `$0.0123`, `at least $0.01` when the price of a call is missing, `cost unknown` when no price is known. */
export function formatCost(usage: Usage): string {
  if (usage.unpriced_calls === 0) return formatDollars(usage.cost_micro_usd, Math.round);
  if (usage.cost_micro_usd === 0) return 'cost unknown';
  // Rounded down: "at least" has to stay true.
  return `at least ${formatDollars(usage.cost_micro_usd, Math.floor)}`;
}

/** `12.3k tokens in, 678 out`. Tokens in are the sum of all three kinds of input. */
export function formatTokens(usage: Usage): string {
  const tokensIn =
    usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  return `${formatCount(tokensIn)} tokens in, ${formatCount(usage.output_tokens)} out`;
}

/** `Expected: about 40.5k tokens by 3 delegations.` */
export function describeExpected({ delegations, tokens }: FanOutEstimate): string {
  const whose = delegations === 1 ? '1 delegation' : `${delegations} delegations`;
  return `Expected: about ${formatCount(tokens)} tokens by ${whose}.`;
}

/** Four decimals below a dollar, because one call often costs less than a cent; two from there on. */
function formatDollars(microUsd: number, round: (value: number) => number): string {
  if (microUsd > 0 && microUsd < 100) return 'less than $0.0001';
  if (microUsd >= 1_000_000) return `$${(round(microUsd / 10_000) / 100).toFixed(2)}`;
  const text = (round(microUsd / 100) / 10_000).toFixed(4);
  return `$${text.replace(/0{1,2}$/, '')}`;
}

function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
