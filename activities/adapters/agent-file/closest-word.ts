/** The word of `words` that takes the fewest changed letters to get from `word`, or null when none is near. */
export function findClosestWord(word: string, words: readonly string[]): string | null {
  const ranked = words
    .map((known) => ({ known, distance: computeDistance(word.toLowerCase(), known.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  // More than half of the letters changed is no typing error.
  return best !== undefined && best.distance <= Math.ceil(best.known.length / 2)
    ? best.known
    : null;
}

/** Levenshtein distance, one row of the table at a time. */
function computeDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of from.split('').entries()) {
    let diagonal = i;
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const above = row[j] ?? 0;
      const replaced = diagonal + Number(letter !== to[j - 1]);
      next.push(Math.min(above + 1, (next[j - 1] ?? 0) + 1, replaced));
      diagonal = above;
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
