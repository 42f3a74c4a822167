import type { TokenCount } from '../ports/model-client.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from '../../core/usage/add-usage.ts';

/** Day on which the prices below were read from the provider's price list. */
export const pricesAsOf = '2026-11-01';

/** US cents per million tokens. */
interface Price {
  readonly inputCents: number;
  readonly outputCents: number;
}

interface ModelPrice extends Price {
  /** Millionths of a US dollar for one search of the web. Absent: `searchMicroUsd`. */
  readonly searchMicroUsd?: number;
  /** Applies to the whole call when its prompt is longer than `abovePromptTokens`. */
  readonly longPrompt?: Price & { readonly abovePromptTokens: number };
}

/** Millionths of a US dollar for one search of the web: 10 US dollars for 1,000. Fetches cost tokens only. */
const searchMicroUsd = 10_000;

/** Converts from US dollars per million tokens, the unit of price lists. */
const usd = (input: number, output: number): Price => ({
  inputCents: Math.round(input * 100),
  outputCents: Math.round(output * 100),
});

const prices = new Map<string, ModelPrice>([
  ['claude-fable-5-1', usd(10, 50)],
  ['claude-opus-5-5', usd(4, 20)],
  ['claude-sonnet-5-5', usd(2, 10)],
  [
    'claude-haiku-5-5',
    { ...usd(0.1, 0.5), longPrompt: { ...usd(0.5, 2.5), abovePromptTokens: 100_000 } },
  ],
]);

/** The models of the provider, the most capable first. */
export const pricedModels: readonly string[] = [...prices.keys()];

// The rehearsal model that ships with planwave answers by rules, at no cost.
prices.set('rehearsal', { ...usd(0, 0), searchMicroUsd: 0 });

// Percentages, so that every product below stays an integer and a sum does not depend on the order of addition.
const cacheWritePercent = 125;
const cacheReadPercent = 10;

/** The names of one call's model. A dated id (`claude-haiku-5-5-20261001`) has the price of its base. */
export interface CalledModel {
  /** Name in the request. */
  readonly requested: string;
  /** Name in the reply. A gateway may use names of its own: without a price, the requested name's applies. */
  readonly answered: string;
}

/**
 * Computes the usage of one model call from the provider's counts.
 *
 * @returns `calls: 1`; the cost is rounded up to a whole millionth of a dollar. A model without a price costs 0 and
 * counts as unpriced: its cost is unknown, never free.
 */
export function computeUsage({ requested, answered }: CalledModel, tokens: TokenCount): Usage {
  const price = priceOf(answered) ?? priceOf(requested);
  return {
    ...noUsage,
    calls: 1,
    input_tokens: tokens.inputTokens,
    cache_creation_input_tokens: tokens.cacheCreationInputTokens,
    cache_read_input_tokens: tokens.cacheReadInputTokens,
    output_tokens: tokens.outputTokens,
    cost_micro_usd: price === undefined ? 0 : computeCostMicroUsd(price, tokens),
    unpriced_calls: price === undefined ? 1 : 0,
  };
}

/** Returns true when the cost of a model's calls is known. */
export function isPriced(model: string): boolean {
  return priceOf(model) !== undefined;
}

/**
 * Computes the most that a call can use, as a call without a report: all of its prompt is written to the cache, and all
 * of its output tokens are used.
 *
 * @param webSearches Searches of the web that it may make; none by default.
 */
export function computeWorstUsage(
  model: string,
  promptTokens: number,
  outputTokens: number,
  webSearches = 0,
): Usage {
  const worst: TokenCount = {
    webSearches,
    inputTokens: 0,
    cacheCreationInputTokens: promptTokens,
    cacheReadInputTokens: 0,
    outputTokens,
  };
  const price = priceOf(model);
  return {
    ...noUsage,
    unpriced_calls: price === undefined ? 1 : 0,
    unreported_calls: 1,
    unreported_tokens: promptTokens + outputTokens,
    unreported_cost_micro_usd: price === undefined ? 0 : computeCostMicroUsd(price, worst),
  };
}

/** Finds the price of a model. A dated id has the price of its base. */
function priceOf(model: string): ModelPrice | undefined {
  return prices.get(model) ?? prices.get(model.replace(/-\d{8}$/, ''));
}

function computeCostMicroUsd(model: ModelPrice, tokens: TokenCount): number {
  const { inputTokens, cacheCreationInputTokens, cacheReadInputTokens, outputTokens } = tokens;
  const promptTokens = inputTokens + cacheCreationInputTokens + cacheReadInputTokens;
  const long = model.longPrompt;
  const price = long !== undefined && promptTokens > long.abovePromptTokens ? long : model;
  const inputPercentTokens =
    inputTokens * 100 +
    cacheCreationInputTokens * cacheWritePercent +
    cacheReadInputTokens * cacheReadPercent;
  const total = inputPercentTokens * price.inputCents + outputTokens * 100 * price.outputCents;
  // One percent of a token at one cent per million tokens is a ten-thousandth of a micro-dollar.
  const searches = (tokens.webSearches ?? 0) * (model.searchMicroUsd ?? searchMicroUsd);
  return Math.ceil(total / 10_000) + searches;
}
