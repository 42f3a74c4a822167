/**
 * Cuts and normalises texts.
 *
 * Invariants:
 *   TX1. A cut text has at most the given number of characters (UTF-16 code units), and no half of a surrogate pair
 *        that the whole text did not have.
 *   TX2. Texts that differ in case, white space and punctuation alone are equal when normalised; others are not.
 */

const titleCharsMax = 120;

/** @returns the text itself when it is short enough, else its beginning and "…". */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 1) return '';
  const end = isHighSurrogate(text.charCodeAt(maxChars - 2)) ? maxChars - 2 : maxChars - 1;
  return `${text.slice(0, Math.max(end, 0))}…`;
}

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
