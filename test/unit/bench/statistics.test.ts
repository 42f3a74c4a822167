import { spreadOf, summarise } from '../../bench/statistics.ts';

it.each([
  [[7], { median: 7, min: 7, max: 7, n: 1 }],
  [[3, 1, 2], { median: 2, min: 1, max: 3, n: 3 }],
  [[10, 1, 2, 4], { median: 3, min: 1, max: 10, n: 4 }],
])('%j comes to its median and range', (values, summary) => {
  expect(summarise(values)).toEqual(summary);
});

it('numbers are ordered as numbers, and the list is left as it is', () => {
  const values = [100, 9, 20];
  expect(summarise(values).median).toBe(20);
  expect(values).toEqual([100, 9, 20]);
});

it('without a value there is no figure', () => {
  expect(() => summarise([])).toThrow('Nothing was measured.');
});

it('the spread is the largest value divided by the smallest', () => {
  expect(spreadOf([2, 3, 4])).toBe(2);
});
