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

export interface Cleaned {
  readonly text: string;
  /** Number of removed characters. */
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
