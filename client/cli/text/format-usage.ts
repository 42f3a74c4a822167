import { formatCost, formatDollars, formatLeastDollars } from '../../../contracts/format-cost.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { RunListing } from '../../run-listing.ts';

/** `12 calls · 34.5k in, 2.1k out · $0.12`. */
export function formatUsage(usage: Usage): string {
  return `${describeCalls(usage)} · ${formatCost(usage)}`;
}

/** As `formatUsage`, for a sum that lacks what some of the parts have used. */
export function formatLeastUsage(usage: Usage): string {
  const { cost_micro_usd } = usage;
  const cost = cost_micro_usd === 0 ? formatCost(usage) : formatLeastDollars(cost_micro_usd);
  return `at least ${describeCalls(usage)} · ${cost}`;
}

function describeCalls(usage: Usage): string {
  const calls = `${usage.calls} ${usage.calls === 1 ? 'call' : 'calls'}`;
  return `${calls} · ${formatTokens(usage)}`;
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

/** What the server knows: while a run works, what its finished waves have cost. Empty when that is nothing yet. */
export function formatSpent({ cost_usd, execution }: RunListing): string {
  if (cost_usd === null) return '';
  // A search attribute holds dollars.
  const microUsd = Math.round(cost_usd * 1_000_000);
  if (execution !== 'running') return formatDollars(microUsd);
  return microUsd === 0 ? '' : formatLeastDollars(microUsd);
}

export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 100_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
