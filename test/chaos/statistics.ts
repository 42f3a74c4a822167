/** How a list of numbers lies. */
export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

/** @returns null for an empty list. */
export function computeSpread(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number | undefined =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
  const [median, p95, max] = [at(0.5), at(0.95), sorted.at(-1)];
  if (median === undefined || p95 === undefined || max === undefined) return null;
  return { count: sorted.length, median, p95, max };
}
