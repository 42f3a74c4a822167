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

/**
 * Returns the text itself when it is short enough, else "…" and its end from the beginning of a word: half a word may be
 * half a secret, which redaction does not know.
 */
export function cutStart(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return maxChars < 1 ? '' : text.slice(-maxChars).replace(/^\S*\s?/u, '…');
}

/** Matches what ends a word: white space, and each character of a script without spaces. */
const wordEnd = /[\s\u2e80-\u9fff\uff00-\uffef]/u;

/** Returns the text itself when it is short enough, else its beginning up to the end of a word and "…", like `cutStart`. */
export function cutEnd(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  let end = Math.max(maxChars - 1, 0);
  while (end > 0 && !wordEnd.test(text.charAt(end - 1))) end -= 1;
  return maxChars < 1 ? '' : `${text.slice(0, end)}…`;
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

/**
 * Removes characters that a model reads and a person can't see: they can hide instructions, or disguise a text.
 *
 * Invariants:
 *   IV1. No character that is left is a control but tab and line break, a direction mark, a tag, a zero-width space or
 *        a variation selector of the supplement; a joiner stands alone, between two characters that need one, and a
 *        variation selector alone, after the emoji that it is for.
 *   IV2. No visible character is changed, moved or lost.
 *   IV3. A second removal removes nothing.
 *   IV4. The escaped JSON of a value is JSON of the same value, and nothing is removed from it.
 */

interface Cleaned {
  readonly text: string;
  readonly removed: number;
}

/** Controls, characters that Unicode calls ignorable, and marks of annotations. */
const invisible = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

/** Scripts in which a joiner changes the look of the letters beside it. */
const joiningScripts =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

const emoji = /\p{Extended_Pictographic}/u;
const emojiEnd = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;
const keycap = '\u20e3';

export function removeInvisible(text: string): Cleaned {
  return replaceInvisible(text, () => '');
}

/**
 * Writes those characters as escapes of JSON: what a person said reaches an agent exactly, and `removeInvisible` leaves
 * it as it is.
 */
export function escapeInvisible(json: string): string {
  return replaceInvisible(json, escapeUnits).text;
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

function replaceInvisible(text: string, replace: (character: string) => string): Cleaned {
  if (!invisible.test(text)) return { text, removed: 0 };
  const characters = Array.from(text);
  const written: string[] = [];
  let before = '';
  let removed = 0;
  for (const [at, character] of characters.entries()) {
    const after = characters[at + 1] ?? '';
    if (!invisible.test(character) || isNeeded(character, { before, after })) {
      written.push(character);
      before = character;
      continue;
    }
    removed += 1;
    const other = replace(character);
    written.push(other);
    // No character that is kept needs an escape beside it.
    if (other !== '') before = '';
  }
  return { text: written.join(''), removed };
}

interface Neighbours {
  readonly before: string;
  readonly after: string;
}

function isNeeded(character: string, { before, after }: Neighbours): boolean {
  switch (character) {
    case '\u200c':
    case '\u200d':
      return (
        (joiningScripts.test(before) && joiningScripts.test(after)) ||
        (character === '\u200d' && emojiEnd.test(before) && emoji.test(after))
      );
    case '\ufe0e':
    case '\ufe0f':
      return emoji.test(before) || (after === keycap && /[0-9#*]/.test(before));
    default:
      return false;
  }
}
