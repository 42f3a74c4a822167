import type { FanOutEstimate } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';

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

function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
