/**
 * How several texts share a place that is too small for all of them.
 *
 * Invariants:
 *   SH1. Together they get no more than there is, and none gets more than it needs.
 *   SH2. Who gets less than it needs gets as much as any other: a short text is never cut for a long one's sake.
 *   SH3. Where all fit, all are whole.
 */

/**
 * @param sizes what each text needs, in bytes.
 * @param total what there is, in bytes.
 * @returns what each may take, in bytes.
 */
export function shareBytes(sizes: readonly number[], total: number): number[] {
  const shares = sizes.map(() => 0);
  let left = Math.max(0, Math.floor(total));
  const smallestFirst = sizes.map((size, at) => ({ size, at })).toSorted((a, b) => a.size - b.size);
  for (const [done, { size, at }] of smallestFirst.entries()) {
    const share = Math.min(size, Math.floor(left / (smallestFirst.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}
