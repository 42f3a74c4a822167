import { noUsage, readUsage } from '../../../core/usage/add-usage.ts';

it('reads a usage that has every count', () => {
  const usage = { ...noUsage, calls: 2, output_tokens: 7 };
  expect(readUsage(usage)).toEqual(usage);
});

it.each([null, undefined, 'calls', { calls: 1 }, { ...noUsage, calls: '1' }])(
  'takes %j for no usage',
  (value) => {
    expect(readUsage(value)).toBeNull();
  },
);
