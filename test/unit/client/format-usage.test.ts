import {
  formatCost,
  formatLeastUsage,
  formatTokens,
  formatUnreported,
  formatUsage,
} from '../../../core/text/format.ts';
import { formatSpent } from '../../../client/run-listing.ts';
import type { RunListing } from '../../../client/run-listing.ts';
import { addUsage } from '../../../core/usage/add-usage.ts';
import { listing, noUsage } from './support/samples.ts';

const usage = {
  ...noUsage,
  calls: 1,
  input_tokens: 1_000,
  cache_read_input_tokens: 11_345,
  output_tokens: 999,
  cost_micro_usd: 12_345,
};

it('adds cached tokens to those that go in', () => {
  expect(formatUsage(usage)).toBe('1 call · 12.3k tokens in, 999 out · $0.0123');
});

it.each([
  [0, 0, '$0.00'],
  [120_000, 0, '$0.12'],
  [0, 1, 'cost unknown'],
  [120_000, 1, 'at least $0.12'],
])('cost of %i with %i unpriced calls is %s', (cost_micro_usd, unpriced_calls, text) => {
  expect(formatCost({ ...noUsage, cost_micro_usd, unpriced_calls })).toBe(text);
});

it.each([
  ['four decimals below a dollar', 123_456, 0, '$0.1235'],
  ['rounded down where a price is missing', 12_399, 1, 'at least $0.0123'],
  ['rounded down above a dollar, too', 1_239_999, 1, 'at least $1.23'],
])('finding C2: the client tells a cost as the engine does: %s', (_case, cost, unpriced, text) => {
  const used = { ...usage, cost_micro_usd: cost, unpriced_calls: unpriced };
  expect(formatCost(used)).toBe(text);
  expect(formatUsage(used).split(' · ').at(-1)).toBe(text);
});

it('UF2: finding C2: "at least" is never more than the sum', () => {
  const used = { ...usage, cost_micro_usd: 99_999 };
  expect(formatLeastUsage(used)).toBe(
    'at least 1 call · 12.3k tokens in, 999 out · at least $0.0999',
  );
  expect(formatSpent(listing({ execution: 'running', cost_usd: 0.099_999 }))).toBe(
    'at least $0.0999',
  );
});

it.each([
  [999, '999'],
  [1_000, '1.0k'],
  [250_000, '250.0k'],
  [999_960, '1.0M'],
  [2_500_000, '2.5M'],
])('%i is %s', (count, text) => {
  const used = { ...noUsage, output_tokens: count };
  expect(formatTokens(used)).toBe(`0 tokens in, ${text} out`);
});

it.each<[string, Partial<RunListing>, string]>([
  ['has ended: what it has cost', { execution: 'completed', cost_usd: 0.25 }, '$0.25'],
  ['has ended and cost nothing', { execution: 'completed', cost_usd: 0 }, '$0.00'],
  ['works: its finished waves', { execution: 'running', cost_usd: 0.25 }, 'at least $0.25'],
  ['works in its first wave: nothing is known', { execution: 'running', cost_usd: 0 }, ''],
  ['has told nothing yet', { cost_usd: null }, ''],
])('what the server knows of a run that %s', (_case, run, text) => {
  expect(formatSpent(listing(run))).toBe(text);
});

it('adds every field', () => {
  const sum = addUsage(usage, { ...usage, unpriced_calls: 2 });
  expect(sum).toEqual({
    ...usage,
    calls: 2,
    input_tokens: 2_000,
    cache_read_input_tokens: 22_690,
    output_tokens: 1_998,
    cost_micro_usd: 24_690,
    unpriced_calls: 2,
  });
});

it('UF3: finding L10: requests that may have been billed are named apart from calls', () => {
  const used = {
    ...usage,
    unreported_calls: 2,
    unreported_tokens: 31_000,
    unreported_cost_micro_usd: 200_000,
  };
  expect(formatUsage(used)).toBe(
    '1 call (2 more may have been billed) · 12.3k tokens in, 999 out · at least $0.0123',
  );
  expect(formatUnreported(used)).toBe('2 calls, up to 31.0k tokens, up to $0.20');
  expect(formatUnreported(usage)).toBe('');
});
