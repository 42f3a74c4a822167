/**
 * A score for texts that are to be read as data and give orders to the model that reads them. It can't be proved that
 * a text gives none; this finds what does so plainly, and leaves ordinary texts alone.
 *
 * Invariants:
 *   INJ1. An order is found whatever stands before and behind it, and in whatever disguise `foldDisguise` knows.
 *   INJ2. Signs that are weak alone count together only when they stand near each other, and each kind once.
 *   INJ3. Hidden text counts by itself: tags, long rows of invisible characters, overrides of the direction; and Base64
 *         when what it decodes to gives orders, twice encoded included.
 *   INJ4. Every text has a score, in time that grows with its length; no finding quotes more than a line.
 */
import { cleanLine, removeInvisible } from '../text/cut-text.ts';
import { injectionPatterns } from './injection-patterns.ts';

interface OrderFinding {
  /** Words that follow "which", for people. */
  readonly sign: string;
  readonly weight: number;
  /** The passage with a few words around it, without its disguise. */
  readonly excerpt: string;
}

interface OrderScore {
  /** 0: nothing was found. From `clearScore` on, the case is plain. */
  readonly score: number;
  /** Findings that make the score, strongest first. */
  readonly findings: readonly OrderFinding[];
}

export const clearScore = 3;

/** Greatest distance, in characters, at which two signs count together. */
const nearChars = 400;

/** Score of the decoded text from which Base64 counts. It is below `clearScore`, because hiding makes a text worse. */
const hiddenScoreMin = 2;

/** Base64 inside Base64 is decoded, and no deeper. */
const depthMax = 2;

const excerptChars = { before: 40, after: 80, most: 200 };

interface Placed extends OrderFinding {
  readonly at: number;
}

export function scoreOrders(text: string): OrderScore {
  return pickStrongest([...findHiddenCharacters(text), ...findPlaced(text, 0)]);
}

function findPlaced(text: string, depth: number): Placed[] {
  const folded = foldDisguise(text);
  return [...findSigns(folded), ...findEncoded(text, depth)];
}

function findSigns(folded: string): Placed[] {
  return injectionPatterns.flatMap(({ name, weight, pattern }) =>
    [...folded.matchAll(pattern)].map(({ 0: found, index }) => ({
      sign: name,
      weight,
      at: index,
      excerpt: excerptOf(folded, index, index + found.length),
    })),
  );
}

function findEncoded(text: string, depth: number): Placed[] {
  if (depth === depthMax) return [];
  return decodeBase64(text).flatMap((decoded) => {
    const { score, findings } = pickStrongest(findPlaced(decoded, depth + 1));
    if (score < hiddenScoreMin) return [];
    const [{ sign, excerpt } = { sign: '', excerpt: '' }] = findings;
    return [{ sign: `in Base64 ${sign}`, weight: clearScore, at: 0, excerpt }];
  });
}

/** Such a run has a meaning only for machines; a single one is typography. */
const invisibleRow = /[\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]{6,}/u;
const selectorRow = /[\u{e0100}-\u{e01ef}]{4,}/u;
const directionOverride = /[\u202d\u202e]/u;

function findHiddenCharacters(text: string): Placed[] {
  const said = decodeTags(text);
  const rows = [invisibleRow, selectorRow, directionOverride].map((row) => row.exec(text));
  return [
    ...(said === ''
      ? []
      : [hidden('hides letters that nobody sees', 0, cleanLine(said, excerptChars.most))]),
    ...rows.flatMap((row) => {
      if (row === null) return [];
      const excerpt = excerptOf(text, row.index, row.index + row[0].length);
      return [hidden('holds characters that nobody sees', row.index, excerpt)];
    }),
  ];
}

function hidden(sign: string, at: number, excerpt: string): Placed {
  return { sign, weight: clearScore, at, excerpt };
}

function excerptOf(text: string, start: number, end: number): string {
  const { before, after, most } = excerptChars;
  return cleanLine(text.slice(Math.max(0, start - before), end + after), most);
}

/** Returns the passage whose signs, each kind once, weigh most together. */
function pickStrongest(found: readonly Placed[]): OrderScore {
  const placed = found.toSorted((a, b) => a.at - b.at);
  let best: OrderScore = { score: 0, findings: [] };
  let from = 0;
  for (const [to, last] of placed.entries()) {
    while ((placed[from]?.at ?? 0) < last.at - nearChars) from += 1;
    const findings = pickKinds(placed.slice(from, to + 1));
    const score = findings.reduce((sum, { weight }) => sum + weight, 0);
    if (score > best.score) best = { score, findings };
  }
  return best;
}

function pickKinds(placed: readonly Placed[]): OrderFinding[] {
  const kinds = new Map<string, OrderFinding>();
  for (const { sign, weight, excerpt } of placed) {
    if (weight > (kinds.get(sign)?.weight ?? 0)) kinds.set(sign, { sign, weight, excerpt });
  }
  return [...kinds.values()].toSorted((a, b) => b.weight - a.weight);
}

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
