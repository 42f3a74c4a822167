/**
 * Estimates shares and medians from few observations, with 95% intervals.
 *
 * Invariants:
 *   ES1. The interval of a share is Wilson's: it lies between 0 and 1, contains the observed share, and is never a single
 *        point, not even where all or none passed.
 *   ES2. The interval of a median is the percentile bootstrap of 2,000 samples: it contains the median and lies within the
 *        observations. With fewer than three observations there is none.
 *   ES3. The same observations give the same numbers on every machine.
 */

/** Estimate with its 95% interval. */
export interface Estimate {
  readonly value: number;
  /** Null where there are too few observations. */
  readonly low: number | null;
  readonly high: number | null;
}

/** Quantile of the normal distribution at 97.5%. */
const z = 1.959_964;

/** @param of At least 1. */
export function estimateShare(passed: number, of: number): Estimate {
  const value = passed / of;
  const square = z * z;
  const middle = (value + square / (2 * of)) / (1 + square / of);
  const reach =
    (z * Math.sqrt((value * (1 - value)) / of + square / (4 * of * of))) / (1 + square / of);
  return {
    value,
    low: Math.max(0, Math.min(value, middle - reach)),
    high: Math.min(1, Math.max(value, middle + reach)),
  };
}

const samples = 2_000;
const observationsMin = 3;

/** @returns null without observations. */
export function estimateMedian(observations: readonly number[]): Estimate | null {
  const value = medianOf(observations);
  if (value === null) return null;
  if (observations.length < observationsMin) return { value, low: null, high: null };
  const random = createRandom(observations.length);
  const medians = Array.from({ length: samples }, () => {
    const drawn = observations.map(
      () => observations[Math.floor(random() * observations.length)] ?? value,
    );
    return medianOf(drawn) ?? value;
  }).toSorted((a, b) => a - b);
  const low = medians[Math.floor(samples * 0.025)] ?? value;
  const high = medians[Math.ceil(samples * 0.975) - 1] ?? value;
  return { value, low: Math.min(low, value), high: Math.max(high, value) };
}

function medianOf(observations: readonly number[]): number | null {
  const sorted = observations.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}

/** Creates repeatable numbers in [0, 1): Mulberry32 by Tommy Ettinger, with 32 bits of state. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
