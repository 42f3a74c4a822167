import * as fc from 'fast-check';
import { shareBytes } from '../../../core/text/cut-text.ts';

const sizes = fc.array(fc.nat({ max: 1_000 }), { maxLength: 30 });
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

describe('sharing a place', () => {
  it('SH1: never more than there is, never more than is needed', () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 20_000 }), (needs, total) => {
        const shares = shareBytes(needs, total);
        expect(sum(shares)).toBeLessThanOrEqual(total);
        expect(shares.every((share, at) => share >= 0 && share <= (needs[at] ?? 0))).toBe(true);
      }),
    );
  });

  it('SH2: who gets less than it needs gets as much as any other, but for what can’t be divided', () => {
    fc.assert(
      fc.property(sizes, fc.nat({ max: 20_000 }), (needs, total) => {
        const shares = shareBytes(needs, total);
        const most = Math.max(0, ...shares);
        const cut = shares.filter((share, at) => share < (needs[at] ?? 0));
        expect(cut.every((share) => share >= most - 1)).toBe(true);
      }),
    );
  });

  it('SH3: all are whole where all fit', () => {
    fc.assert(
      fc.property(sizes, (needs) => {
        expect(shareBytes(needs, sum(needs))).toEqual(needs);
      }),
    );
  });
});
