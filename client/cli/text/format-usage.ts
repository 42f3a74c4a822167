import type { Usage } from '../../../contracts/usage.ts';
import type { RunListing } from '../../run-listing.ts';

/** `12 calls · 34.5k in, 2.1k out · $0.12`. */
export function formatUsage(usage: Usage): string {
  const calls = `${usage.calls} ${usage.calls === 1 ? 'call' : 'calls'}`;
  return `${calls} · ${formatTokens(usage)} · ${formatCost(usage)}`;
}

/** As `formatUsage`, with the word that fits one agent's work. */
export function formatTurns(usage: Usage): string {
  const turns = `${usage.calls} ${usage.calls === 1 ? 'turn' : 'turns'}`;
  return `${turns} · ${formatTokens(usage)} · ${formatCost(usage)}`;
}

export function formatTokens(usage: Usage): string {
  const input =
    usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  return `${formatCount(input)} in, ${formatCount(usage.output_tokens)} out`;
}

/** Calls without a known price make the sum a lower bound. */
export function formatCost(usage: Usage): string {
  if (usage.unpriced_calls === 0) return formatUsd(usage.cost_micro_usd / 1_000_000);
  if (usage.cost_micro_usd === 0) return 'cost unknown';
  return `at least ${formatUsd(usage.cost_micro_usd / 1_000_000)}`;
}

/** Two decimals, or four below ten cents, where two would show nothing. */
export function formatUsd(usd: number): string {
  return `$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

/** What the server knows: while a run works, what its finished waves have cost. Empty when that is nothing yet. */
export function formatSpent({ cost_usd, execution }: RunListing): string {
  if (cost_usd === null) return '';
  if (execution !== 'running') return formatUsd(cost_usd);
  return cost_usd === 0 ? '' : `at least ${formatUsd(cost_usd)}`;
}

export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 100_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
