/**
 * Formats costs, tokens, counts and spans of time for people. The engine and the client use the same words.
 *
 * Invariants:
 *   UF1. An unknown price is never shown as a number, and a total that lacks one is shown as "at least".
 *   UF2. The amount after "at least" is never more than the sum.
 *   UF3. Amounts that may have been billed without a report are named apart from those that were reported.
 */
import type { Usage } from '../../contracts/usage.ts';
import type { FanOutEstimate } from '../../contracts/budget.ts';
import { engineLimits } from '../limits.ts';
import { entryPoints } from './entry-points.ts';

/** Returns `$0.0123`, `at least $0.01` when the price of a call is missing, `cost unknown` when no price is known. */
export function formatCost(
  usage: Pick<Usage, 'cost_micro_usd' | 'unpriced_calls' | 'unreported_cost_micro_usd'>,
): string {
  if (usage.unpriced_calls === 0 && usage.unreported_cost_micro_usd === 0)
    return formatDollars(usage.cost_micro_usd);
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

/** `12 calls · 34.5k tokens in, 2.1k out · $0.12`. */
export function formatUsage(usage: Usage): string {
  return `${formatCalls(usage)} · ${formatTokens(usage)} · ${formatCost(usage)}`;
}

/** Works like `formatUsage`, for a sum that lacks the usage of some parts. */
export function formatLeastUsage(usage: Usage): string {
  const { cost_micro_usd } = usage;
  const cost = cost_micro_usd === 0 ? formatCost(usage) : formatLeastDollars(cost_micro_usd);
  return `at least ${formatCalls(usage)} · ${formatTokens(usage)} · ${cost}`;
}

/** `12 calls`, `12 calls (1 more may have been billed)`. */
function formatCalls({ calls, unreported_calls }: Usage): string {
  const more = unreported_calls === 0 ? '' : ` (${unreported_calls} more may have been billed)`;
  return `${countOf(calls, 'call')}${more}`;
}

/** `2 calls, up to 31.0k tokens, up to $0.20`: amounts that may have been billed without a report; empty without any. */
export function formatUnreported(usage: Usage): string {
  const { unreported_calls, unreported_tokens, unreported_cost_micro_usd } = usage;
  return [
    ...(unreported_calls > 0 ? [countOf(unreported_calls, 'call')] : []),
    ...(unreported_tokens > 0 ? [`up to ${formatCount(unreported_tokens)} tokens`] : []),
    ...(unreported_cost_micro_usd > 0 ? [`up to ${formatDollars(unreported_cost_micro_usd)}`] : []),
  ].join(', ');
}

/** Works like `formatUsage`, with the word that fits one agent's work. */
export function formatTurns(usage: Usage): string {
  return `${countOf(usage.calls, 'turn')} · ${formatTokens(usage)} · ${formatCost(usage)}`;
}

/** `12.3k tokens in, 678 out`. Tokens in are the sum of all three kinds of input. */
export function formatTokens(usage: Usage): string {
  const tokensIn =
    usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  return `${formatCount(tokensIn)} tokens in, ${formatCount(usage.output_tokens)} out`;
}

/** `Expected: about 40.5k tokens by 3 delegations.` */
export function describeExpected({ delegations, tokens }: FanOutEstimate): string {
  return `Expected: about ${formatCount(tokens)} tokens by ${countOf(delegations, 'delegation')}.`;
}

/** `1 task`, `3 tasks`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `Execute` for `execute`. */
export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** `999`, `12.3k`, `1.5M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

const units = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
  { seconds: 1, name: 's' },
] as const;

/** `45 s`, `2 h`, `1.5 h`, `7 d`: the largest unit that fits, rounded to one decimal. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, seconds);
  const unit = units.find((u) => whole >= u.seconds) ?? units[3];
  return `${Number((whole / unit.seconds).toFixed(1))} ${unit.name}`;
}

/** Returns a warning for people when a workflow's history comes near the size at which the server ends it, or null. */
export function noticeLongHistory(events: number, bytes: number): string | null {
  const { historyEventsWarn, historyBytesWarn } = engineLimits;
  if (events < historyEventsWarn && bytes < historyBytesWarn) return null;
  const size = `${events} events and ${(bytes / 1_048_576).toFixed(1)} MB`;
  return `The history has ${size}; the server ends a run at about 51,200 events or 50 MB. A new one begins between two waves. Try: stop the sender of the messages, and answer open questions.`;
}

/**
 * Builds commands that a person copies into a shell.
 *
 * Invariants:
 *   CM1. Each word of a command reaches its program exactly, whatever it contains.
 */

export const commandPrefix = entryPoints.client;

/** Quotes one word for a POSIX shell: unchanged when harmless, otherwise in single quotes. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Builds a command of the client that can be pasted into a shell. */
export function commandText(...words: readonly string[]): string {
  return [commandPrefix, ...words.map(quoteWord)].join(' ');
}

/** Builds the Temporal CLI's command for a signal with a payload. */
export function signalCommand(runId: string, name: string, payload: object): string {
  const input = quoteWord(escapeUnseen(JSON.stringify(payload)));
  return `temporal workflow signal --workflow-id ${quoteWord(runId)} --name ${name} --input ${input}`;
}

/** Replaces characters that are invisible or reorder others by JSON escapes. */
function escapeUnseen(json: string): string {
  return json.replace(
    /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
