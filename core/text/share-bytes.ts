/**
 * Shares a limited space among several texts.
 *
 * Invariants:
 *   SH1. Together they get at most the space there is, and none gets more than it needs.
 *   SH2. Each text that gets less than it needs gets the same share: a short text is never cut for the sake of a long
 *        one.
 *   SH3. When all texts fit, all are whole.
 */

/**
 * @param sizes Bytes that each text needs.
 * @param total Bytes of the space.
 * @returns the bytes that each may take.
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
