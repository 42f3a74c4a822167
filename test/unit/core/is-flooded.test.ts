import { limitMaxima } from '../../../contracts/limit-maxima.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { isFlooded } from '../../../core/run/decide-next-step.ts';

/** Signals that the server takes for one execution. */
const serverMax = 10_000;

it('FL1: finding T4: a run begins another execution well before the server refuses signals', () => {
  expect(isFlooded(7_999, defaultLimits)).toBe(false);
  expect(isFlooded(8_000, defaultLimits)).toBe(true);
  expect(limitMaxima.max_signals).toBeLessThan(serverMax);
});

it('nothing is flooded before the input was read', () => {
  expect(isFlooded(20_000, null)).toBe(false);
});
