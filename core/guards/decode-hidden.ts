import { removeInvisible } from '../text/cut-text.ts';

/**
 * Disguises of orders, taken off: a text as a model reads it. Orders are written so that a search for their words fails.
 *
 * Invariants:
 *   FLD1. Full-width, styled and accented letters, Cyrillic and Greek ones in Latin words, letters set apart, and invisible
 *         characters between them give the same folded text as the plain word.
 *   FLD2. Plain text of one script stays as it is, but for its accents; line breaks stay.
 */

/** Look-alikes of Latin letters. Each is replaced in words that are otherwise Latin. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Array.from('аеорсухіѕјԁһոνοαιρτυАВЕІКМНОРСТХΟΙΑΕΝΡΤ', (letter, at) => [
    letter,
    'aeopcyxisjdhnvoaiptuABEIKMHOPCTXOIAENPT'.charAt(at),
  ]),
);

/** Matches `i g n o r e` and `i-g-n-o-r-e`. At least five letters, or initials in a row would count as a word. */
const setApart = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*·]\p{L}){4,}(?![\p{L}\p{N}])/gu;

export function foldDisguise(text: string): string {
  return removeInvisible(text)
    .text.normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replace(/[\u2018\u2019\u02bc]/gu, "'")
    .replace(/\p{L}+/gu, foldWord)
    .replace(setApart, (letters) => letters.replace(/[^\p{L}]/gu, ''));
}

function foldWord(word: string): string {
  if (!/[A-Za-z]/.test(word) || /^[A-Za-z]+$/.test(word)) return word;
  return Array.from(word, (letter) => lookAlikes.get(letter) ?? letter).join('');
}

/**
 * Contents of a text that only a machine reads: Base64, and the invisible letters of Unicode's tags.
 *
 * Invariants:
 *   DEC1. Base64 of a text is decoded wherever in a word it begins, in both alphabets, broken into lines, padded or not.
 *   DEC2. Tags are decoded to the letters that they stand for; the flags of England, Scotland and Wales hide nothing.
 *   DEC3. The work grows with the length of the text, and no text makes it throw.
 */

/** Shorter runs can't contain an instruction. */
const encodedCharsMin = 16;

const encoded = new RegExp(
  String.raw`[A-Za-z0-9+/_-]{${encodedCharsMin},}(?:\r?\n[ \t]{0,8}[A-Za-z0-9+/_-]{4,})*`,
  'g',
);

/** Positions in a group of four at which the code may begin, because a path or a word can stand right before it. */
const offsets = [0, 1, 2, 3];

/** A hash or a path decodes to bytes without such a run of readable characters. */
const readable = /[\p{L}\p{N}\p{P}\p{Sm} \n]{12}/u;

/** Decodes each run that may be Base64, and returns those that read like text. */
export function decodeBase64(text: string): string[] {
  return [...text.matchAll(encoded)].flatMap(([word]) => {
    const sixes = Array.from(word.replaceAll(/\s+/g, ''), valueOf);
    return offsets
      .map((offset) => readBytes(toBytes(sixes, offset)))
      .filter((decoded) => readable.test(decoded));
  });
}

function valueOf(character: string): number {
  const code = character.charCodeAt(0);
  if (code >= 97) return code === 95 ? 63 : code - 71;
  if (code === 95 || code === 47) return 63;
  if (code >= 65) return code - 65;
  return code >= 48 ? code + 4 : 62;
}

function toBytes(sixes: readonly number[], offset: number): number[] {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (let at = offset; at < sixes.length; at += 1) {
    bits = ((bits << 6) | (sixes[at] ?? 0)) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push((bits >> held) & 0xff);
    }
  }
  return bytes;
}

/** Reads bytes as UTF-8, or one by one where they are none, because an instruction may stand among other bytes. */
function readBytes(bytes: readonly number[]): string {
  try {
    return decodeURIComponent(
      bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  } catch {
    return bytes.map((byte) => String.fromCharCode(byte)).join('');
  }
}

const flag = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
const tag = /[\u{e0020}-\u{e007e}]/gu;
const tagOffset = 0xe0000;

/** Decodes the tags of a text. Empty when it has none. */
export function decodeTags(text: string): string {
  const tags = text.replace(flag, '').match(tag) ?? [];
  return tags.map((one) => String.fromCharCode((one.codePointAt(0) ?? 0) - tagOffset)).join('');
}
