import { assert, nat, property } from 'fast-check';
import { computeWorst } from '../../../activities/adapters/anthropic/build-params.ts';
import { computeUsage } from '../../../activities/adapters/prices.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import type { ModelRequest, TokenCount } from '../../../activities/ports/model-client.ts';
import { webResearchStage } from '../../../activities/stages/web-research.ts';

const usageOf = (model: string, tokens: TokenCount): Usage =>
  computeUsage({ requested: model, answered: model }, tokens);

const million = 1_000_000;
const count = (part: Partial<TokenCount>): TokenCount => ({
  inputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 0,
  ...part,
});
const costUsd = (model: string, part: Partial<TokenCount>): number =>
  usageOf(model, count(part)).cost_micro_usd / million;

describe('computeUsage', () => {
  it.each([
    ['claude-fable-5-1', 10, 50],
    ['claude-opus-5-5', 4, 20],
    ['claude-sonnet-5-5', 2, 10],
    ['claude-haiku-5-5', 0.5, 0.5],
    ['rehearsal', 0, 0],
  ])('%s: a million tokens', (model, input, output) => {
    expect(costUsd(model, { inputTokens: million })).toBe(input);
    expect(costUsd(model, { outputTokens: million })).toBe(output);
  });

  it('a dated id has the price of its base', () => {
    const tokens = count({ inputTokens: 1_000, outputTokens: 1_000 });
    const dated = usageOf('claude-haiku-5-5-20261001', tokens);
    expect(dated).toEqual(usageOf('claude-haiku-5-5', tokens));
    expect(dated).toMatchObject({ cost_micro_usd: 600, unpriced_calls: 0 });
  });

  it('writing to the cache costs a quarter more, reading from it a tenth', () => {
    expect(costUsd('claude-sonnet-5-5', { cacheCreationInputTokens: million })).toBe(2.5);
    expect(costUsd('claude-sonnet-5-5', { cacheReadInputTokens: million })).toBe(0.2);
  });

  it('Haiku costs more from 100,000 tokens of prompt on, cached ones included', () => {
    const haiku = 'claude-haiku-5-5';
    expect(costUsd(haiku, { inputTokens: 100_000, outputTokens: 1_000 })).toBe(0.0105);
    expect(costUsd(haiku, { inputTokens: 100_001, outputTokens: 1_000 })).toBe(0.052501);
    const cached = { inputTokens: 1, cacheReadInputTokens: 100_000 };
    expect(costUsd(haiku, cached)).toBe(0.005001);
  });

  it('an unknown model: tokens are counted, the cost is unknown and not 0', () => {
    expect(usageOf('gpt-99', count({ inputTokens: 5, outputTokens: 7 }))).toEqual({
      ...noUsage,
      calls: 1,
      input_tokens: 5,
      output_tokens: 7,
      unpriced_calls: 1,
    });
  });

  it('finding T2: a name in the reply that has no price costs what the requested model costs', () => {
    const tokens = count({ inputTokens: 1_000, outputTokens: 1_000 });
    const model = { requested: 'claude-sonnet-5-5', answered: 'sonnet-via-gateway' };
    expect(computeUsage(model, tokens)).toEqual(usageOf('claude-sonnet-5-5', tokens));
    const dearer = { requested: 'claude-sonnet-5-5', answered: 'claude-opus-5-5' };
    expect(computeUsage(dearer, tokens)).toEqual(usageOf('claude-opus-5-5', tokens));
  });

  it('a cost is a whole number of micro-dollars and never below the true one', () => {
    const tokens = nat({ max: 2 * million });
    assert(
      property(tokens, tokens, tokens, (inputTokens, cacheReadInputTokens, outputTokens) => {
        const part = count({ inputTokens, cacheReadInputTokens, outputTokens });
        const cost = usageOf('claude-opus-5-5', part).cost_micro_usd;
        expect(Number.isSafeInteger(cost)).toBe(true);
        const exact = 4 * inputTokens + 0.4 * cacheReadInputTokens + 20 * outputTokens;
        expect(Math.abs(cost - exact)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('computeWorst', () => {
  const request: ModelRequest = {
    model: 'claude-haiku-5-5',
    maxOutputTokens: 16_000,
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(4_000) }] }],
    tools: [],
    callKey: 'run/key',
  };
  const { web = { searchesMax: 0, fetchesMax: 0, pageTokensMax: 0 } } = webResearchStage;

  it('a call that reads the web again after each use is billed no more than its worst case', () => {
    const uses = web.searchesMax + web.fetchesMax;
    // The longest results, and a reply that is nearly as long as it may be, first.
    const readings = Array.from({ length: uses + 1 }, (_, use) =>
      use === 0 ? 4_000 : 4_000 + use * 10_000 + 15_000,
    );
    const inputTokens = readings.reduce((sum, tokens) => sum + tokens, 0);
    const tokens = count({ inputTokens, outputTokens: 16_000, webSearches: web.searchesMax });
    const bill = usageOf(request.model, tokens);
    const worst = computeWorst({ ...request, web });
    expect(worst.unreported_tokens).toBeGreaterThanOrEqual(inputTokens + 16_000);
    expect(worst.unreported_cost_micro_usd).toBeGreaterThanOrEqual(bill.cost_micro_usd);
    // As docs/web.md says.
    expect(worst.unreported_tokens).toBeLessThan(800_000);
    expect(worst.unreported_cost_micro_usd).toBeLessThan(0.6 * million);
  });

  it('longer pages than results of searches are read the most often', () => {
    const [one, none] = [1, 0].map((uses) =>
      computeWorst({
        ...request,
        web: { searchesMax: uses, fetchesMax: uses, pageTokensMax: 20_000 },
      }),
    );
    expect(one?.unreported_tokens).toBeGreaterThan(2 * 20_000 + 10_000 + 2 * 16_000);
    expect(none?.unreported_tokens).toBeLessThan(16_000 + 4_000 + 2_000);
  });
});
