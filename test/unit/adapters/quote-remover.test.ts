import { createQuoteRemover } from '../../../activities/adapters/anthropic/json-schemas.ts';
import { apiKey, request } from './model-bench.ts';

const clean = createQuoteRemover(
  { apiKey },
  {
    ...request,
    system: [{ text: 'The password of the\ncellar is swordfish.', cacheBreakpoint: false }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'pin 4711' },
          {
            type: 'tool_use',
            id: 't',
            name: 'look',
            input: { where: 'under the third flowerpot' },
          },
          { type: 'tool_result', tool_use_id: 't', content: 'a very small key', is_error: false },
          { type: 'opaque', raw: { thinking: 'it opens the treasury door' } },
        ],
      },
    ],
  },
);

describe('createQuoteRemover', () => {
  it.each([
    'is swordfish.',
    'password of the cellar is swordfish',
    'under the third flowerpot',
    'a very small key',
    'opens the treasury door',
    'pin 4711',
    apiKey,
  ])('takes out %j', (quote) => {
    const long = quote === 'is swordfish.' ? 'cellar is swordfish.' : quote;
    expect(clean(`You sent: >${long}< to us`)).toBe('You sent: >…< to us');
  });

  it('leaves what is in no prompt', () => {
    expect(clean('max_tokens: 9 > 8, for the model')).toBe('max_tokens: 9 > 8, for the model');
  });

  it('gives one line of at most 300 characters without control characters', () => {
    expect(clean('a\r\n\tb\u0000\u001b[31mc')).toBe('a b [31mc');
    expect(clean('x'.repeat(5_000))).toHaveLength(300);
  });
});
