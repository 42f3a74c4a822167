/** Several measurements of one thing, in its unit. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** How many were taken. */
  readonly n: number;
}

/** @throws {RangeError} without any value: a figure that was not measured is no figure. */
export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((left, right) => left - right);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) throw new RangeError('Nothing was measured.');
  const upper = sorted[Math.floor(sorted.length / 2)] ?? max;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? min;
  return { median: (lower + upper) / 2, min, max, n: sorted.length };
}

/** How far apart values that should be equal are: the largest divided by the smallest. */
export function spreadOf(values: readonly number[]): number {
  const { min, max } = summarise(values);
  return max / min;
}
