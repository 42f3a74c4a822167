import * as fc from 'fast-check';
import type { Usage } from '../../../contracts/usage.ts';
import { formatCost, formatTokens } from '../../../core/text/format.ts';
import { addUsage } from '../../../core/usage/add-usage.ts';
import { property, usage } from './builders.ts';

const fields = [
  'calls',
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'cost_micro_usd',
  'unpriced_calls',
  'unreported_calls',
  'unreported_tokens',
  'unreported_cost_micro_usd',
] as const satisfies readonly (keyof Usage)[];

const anyUsage: fc.Arbitrary<Usage> = fc.record({
  calls: fc.nat(),
  input_tokens: fc.nat(),
  cache_creation_input_tokens: fc.nat(),
  cache_read_input_tokens: fc.nat(),
  output_tokens: fc.nat(),
  cost_micro_usd: fc.nat(),
  unpriced_calls: fc.nat(),
  unreported_calls: fc.nat(),
  unreported_tokens: fc.nat(),
  unreported_cost_micro_usd: fc.nat(),
});

describe('usage', () => {
  it('U1: every field of a total is the sum of its parts', () => {
    fc.assert(
      fc.property(fc.array(anyUsage), (parts) => {
        const total = addUsage(...parts);
        for (const field of fields) {
          expect(total[field]).toBe(parts.reduce((sum, part) => sum + part[field], 0));
        }
        expect(Object.keys(total)).toEqual(fields);
      }),
      property,
    );
  });

  it.each([
    [0, 0, '$0.00'],
    [12_300, 0, '$0.0123'],
    [10_000, 0, '$0.01'],
    [12_340_000, 0, '$12.34'],
    [999_999, 0, '$1.00'],
    [42, 0, 'less than $0.0001'],
    [12_399, 1, 'at least $0.0123'],
    [10_000, 2, 'at least $0.01'],
    [0, 3, 'cost unknown'],
  ])('UF1: %i millionths with %i unpriced calls is "%s"', (cost, unpriced, text) => {
    const seen = formatCost(usage({ cost_micro_usd: cost, unpriced_calls: unpriced }));
    expect(seen).toBe(text);
  });

  it('tokens in are the sum of all three kinds', () => {
    const seen = formatTokens(
      usage({
        input_tokens: 300,
        cache_creation_input_tokens: 2_000,
        cache_read_input_tokens: 10_000,
        output_tokens: 678,
      }),
    );
    expect(seen).toBe('12.3k tokens in, 678 out');
    expect(formatTokens(usage({ output_tokens: 2_500_000 }))).toBe('0 tokens in, 2.5M out');
  });
});
