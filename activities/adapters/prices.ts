import type { TokenCount } from '../ports/model-client.ts';
import type { Usage } from '../../contracts/usage.ts';

/** Day on which the prices below were read from the provider's price list. */
export const pricesAsOf = '2026-11-01';

/** US cents per million tokens. */
interface Price {
  readonly inputCents: number;
  readonly outputCents: number;
}

interface ModelPrice extends Price {
  /** Applies to the whole call when its prompt is longer than `abovePromptTokens`. */
  readonly longPrompt?: Price & { readonly abovePromptTokens: number };
}

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
prices.set('rehearsal', usd(0, 0));

const noTokens: TokenCount = {
  inputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 0,
};

// Percentages, so that every product below stays an integer and a sum does not depend on the order of addition.
const cacheWritePercent = 125;
const cacheReadPercent = 10;

/**
 * Computes the usage of one model call.
 *
 * @param model The provider's name; a dated id (`claude-haiku-5-5-20261001`) has the price of its base.
 * @param tokens The provider's counts, or null when they are unknown: the call then counts as unpriced.
 * @returns `calls: 1`; the cost is rounded up to a whole millionth of a dollar. A model that is not in the price table
 * costs 0 and counts as unpriced: its cost is unknown, never free.
 */
export function computeUsage(model: string, tokens: TokenCount | null): Usage {
  const price = priceOf(model);
  const count = tokens ?? noTokens;
  const priced = price !== undefined && tokens !== null;
  return {
    calls: 1,
    input_tokens: count.inputTokens,
    cache_creation_input_tokens: count.cacheCreationInputTokens,
    cache_read_input_tokens: count.cacheReadInputTokens,
    output_tokens: count.outputTokens,
    cost_micro_usd: priced ? computeCostMicroUsd(price, tokens) : 0,
    unpriced_calls: priced ? 0 : 1,
  };
}

/** Returns true when the cost of a model's calls is known. */
export function isPriced(model: string): boolean {
  return priceOf(model) !== undefined;
}

/**
 * Computes the most that a call can cost: all of its prompt written to the cache, all of its output tokens used.
 *
 * @returns millionths of a dollar; 0 for a model without a known price.
 */
export function computeWorstCostMicroUsd(
  model: string,
  promptTokens: number,
  outputTokens: number,
): number {
  const price = priceOf(model);
  if (price === undefined) return 0;
  return computeCostMicroUsd(price, {
    ...noTokens,
    cacheCreationInputTokens: promptTokens,
    outputTokens,
  });
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
  return Math.ceil(total / 10_000);
}
