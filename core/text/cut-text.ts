/**
 * Cuts, cleans and normalises texts, and shares a limited space among several.
 *
 * Invariants:
 *   TX1. A cut text has at most the given number of characters (UTF-16 code units), and no half of a surrogate pair
 *        that the whole text did not have.
 *   TX2. Texts that differ in case, white space and punctuation alone are equal when normalised; others are not.
 *   CL1. A line has no control characters, no line breaks, no direction marks and no half surrogate pairs.
 *   SH1. Together, texts get at most the space there is, and none gets more than it needs.
 *   SH2. Each text that gets less than it needs gets the same share: a short text is never cut for the sake of a long
 *        one.
 *   SH3. When all texts fit, all are whole.
 */

const titleCharsMax = 120;

/** @returns the text itself when it is short enough, else its beginning and "…". */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 1) return '';
  const end = isHighSurrogate(text.charCodeAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${text.slice(0, Math.max(end, 0))}…`;
}

/** Cuts a text in its middle and says how much is left out, so that its end can't hide behind a long beginning. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor((maxChars - middleNoteCharsMax) / 2);
  const head = cutText(text, half + 1);
  const tail = text.slice(
    isHighSurrogate(text.charCodeAt(text.length - half - 1)) ? 1 - half : -half,
  );
  return `${head} [${text.length - 2 * half} of ${text.length} characters left out] …${tail}`;
}

/** Characters of the note in the middle, its ellipses included. */
const middleNoteCharsMax = 70;

/** Returns the first line that is not blank, at most 120 characters. */
export function titleOf(text: string): string {
  const line = text.split(/[\r\n]+/).find((l) => l.trim() !== '') ?? '';
  return cutText(line.trim(), titleCharsMax);
}

/** Normalises for comparison, never for display. */
export function normaliseText(text: string): string {
  const folded = text
    .toLowerCase()
    .replace(/[\p{P}\s]+/gu, ' ')
    .trim();
  // A text that is only punctuation keeps it, and so differs from others.
  return folded === '' ? text.trim() : folded;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Control characters, and format characters that reorder or hide text. Joiners stay: emoji and scripts need them. */
const unsafe = /[\p{Cc}\p{Surrogate}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

export function cleanLine(text: string, maxChars: number): string {
  // Cut first and last: first to keep the work small, last to keep the result short.
  const line = text
    .slice(0, maxChars * 4)
    .replace(/\s+/g, ' ')
    .replace(unsafe, '')
    .trim();
  return cutText(line, maxChars);
}

/** Cleans like `cleanLine`, but keeps line breaks and indentation. */
export function cleanLines(text: string, maxChars: number): string {
  return cutText(text, maxChars)
    .split(/\r\n|[\n\u2028\u2029]/)
    .map((line) => line.replaceAll('\t', '  ').replace(unsafe, '').trimEnd())
    .join('\n');
}

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
