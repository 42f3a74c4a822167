import { createPrng } from '../../support/prng.ts';

const ten = Array.from({ length: 10 }, (_one, index) => index);

function draw(seed: number): number[] {
  const random = createPrng(seed);
  return ten.map(() => random.next());
}

it('draws the same from the same seed, and something else from another', () => {
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  // Mulberry32 as others have it.
  expect(Math.round((draw(1)[0] ?? 0) * 1e6)).toBe(627_074);
});

it('draws what a fork draws whatever was drawn before', () => {
  const random = createPrng(7);
  const before = random.fork('a').next();
  random.next();
  expect(random.fork('a').next()).toBe(before);
  expect(random.fork('b').next()).not.toBe(before);
});

it('stays within its bounds and reaches them', () => {
  const random = createPrng(3);
  const drawn = new Set(Array.from({ length: 200 }, () => random.integer(2, 4)));
  expect([...drawn].toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
  expect(ten.some(() => random.chance(0))).toBe(false);
  expect(ten.every(() => random.chance(1))).toBe(true);
});

it('shuffles without losing or doubling anything', () => {
  const shuffled = createPrng(5).shuffle(ten);
  expect(shuffled).not.toEqual(ten);
  expect(shuffled.toSorted((a, b) => a - b)).toEqual(ten);
});

it('picks from a list, and from no empty one', () => {
  expect(ten).toContain(createPrng(9).pick(ten));
  expect(() => createPrng(9).pick([])).toThrow('nothing to pick');
});
