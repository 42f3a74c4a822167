/**
 * Frames of lines: what a tool puts in front of every line that it shows, such as a path, a number, a time, or the sign
 * of a patch, and what code writes between the pieces of a text. A secret of several lines goes on behind them.
 */

/** Least length of a key's line. Shorter words are its last line, or no part of it. */
export const keyLineCharsMin = 16;

/** Least length of one that is a string of its own in code: beside the first line of a key, code lists names too. */
export const keyPieceCharsMin = 32;

export interface LineFrame {
  /** Text that a tool writes before every line, but for the numbers in it. */
  readonly core: string;
  /** True when the line is a string of its own in code. */
  readonly isQuoted: boolean;
}

/** Most characters that a tool puts in front of every line: a path, a number, a time. */
const prefixCharsMax = 300;
/** Matches signs of patches, quotations and comments, which may differ from line to line. */
const marks = /(?:(?!-----(?:BEGIN|END))[-+ \t>|#*:]){0,8}/y;
const markCharacters = '-+ \t>|#*:';

/** Most characters of a number in a prefix, with the spaces that align it. */
const numberCharsMax = 20;

/** Matches the end of a string in code, and the sign behind it. Quotes are escaped in a part of JSON. */
const pieceEnd = /\\{0,3}(?:["'`][ \t]{0,20}(?:[,+.&]|\\(?=[\r\n]))?|$)/y;
const pieceGap = [/\s*/y, /\\{1,4}[nrt]/y];
const pieceIndent = [/[ \t]*/y, /\\{1,4}t/y];
const pieceStart = /(?:[,+.&][ \t]{0,20})?[A-Za-z]?\\{0,3}(?:["'`]|$)/y;
const quotedBefore = /["'`](?:\\{1,4}[nr]){0,4}$/;
const quotedBeforeCharsMax = 21;
const firstQuote = /\\{0,3}["'`]/;

/** Returns the frame of the line with this place, at which a key's first or last line begins. */
export function frameOf(text: string, from: number, at: number): LineFrame {
  const core = coreOf(text, from, at);
  const isQuoted = quotedBefore.test(text.slice(Math.max(from, at - quotedBeforeCharsMax), at));
  // Code before the first string is skipped as far as the other lines have it too.
  return { core: isQuoted ? (core.split(firstQuote, 1)[0] ?? '') : core, isQuoted };
}

/**
 * Skips from the end of a string in code to the beginning of the next one, as in `…", "…` or `…" +` and a line break.
 *
 * @returns the same place when another text stands there; the end of the text when it ends in between.
 */
export function skipJoint(text: string, from: number, frame: LineFrame): number {
  const end = frame.isQuoted ? readAt(pieceEnd, text, from) : undefined;
  if (end === undefined) return from;
  const next = skipAll(pieceGap, text, end);
  const isLineStart = /[\r\n\\]/.test(text.slice(end, next));
  const start = isLineStart ? skipPrefix(text, next, frame) : next;
  return beginPiece(text, start) ?? from;
}

/** Skips what the patterns match, in turn. One repeated pattern for all of them would overflow on millions of characters. */
function skipAll(patterns: readonly RegExp[], text: string, from: number): number {
  const skipOnce = (at: number): number =>
    patterns.reduce((place, pattern) => readAt(pattern, text, place) ?? place, at);
  let at = from;
  for (let next = skipOnce(at); next !== at; next = skipOnce(at)) at = next;
  return at;
}

/** @returns undefined when no string of code begins in the rest of the line. */
function beginPiece(text: string, at: number): number | undefined {
  return readAt(pieceStart, text, skipAll(pieceIndent, text, at));
}

/** Skips a prefix like that of the key's first line, and marks. */
export function skipPrefix(text: string, at: number, frame: LineFrame): number {
  const after = skipCore(text, at, frame) ?? at;
  return readAt(marks, text, after) ?? after;
}

/**
 * @returns undefined when another text stands there, but before a string of code the place of the difference; the end of the
 *   text when it ends within the prefix.
 */
function skipCore(text: string, from: number, { core, isQuoted }: LineFrame): number | undefined {
  const differ = (at: number): number | undefined =>
    isQuoted && beginPiece(text, at) !== undefined ? at : undefined;
  let at = from;
  for (let next = 0; next < core.length;) {
    if (at >= text.length) return text.length;
    if (isCount(core.charAt(next))) {
      const end = skipCount(text, at);
      if (end === at) return differ(at);
      at = end;
      next = skipCount(core, next);
      continue;
    }
    if (signOf(core.charAt(next)) !== signOf(text.charAt(at))) return differ(at);
    at += 1;
    next += 1;
  }
  return at;
}

/** Skips digits and the spaces that align them. */
function skipCount(text: string, from: number): number {
  let at = from;
  while (at - from < numberCharsMax && isCount(text.charAt(at))) at += 1;
  return at;
}

/** `grep` writes `name:3:` before a line that it has found, and `name-4-` before those around it. */
function signOf(character: string): string {
  return character === ':' ? '-' : character;
}

/**
 * Returns the beginning of a line without the marks behind it: what a tool writes before every line, but for the
 * numbers in it. Empty when it is too long, or a part of the key.
 */
function coreOf(text: string, from: number, to: number): string {
  let start = to;
  const first = Math.max(from, to - prefixCharsMax);
  while (start > first && !endsLine(text, start)) start -= 1;
  if (start > from && !endsLine(text, start)) return '';
  let end = to;
  while (end > start && markCharacters.includes(text.charAt(end - 1))) end -= 1;
  return isPartOfKey(text, { start, end, to }) ? '' : text.slice(start, end).trimStart();
}

/**
 * Returns true when the last word before the marks is a line of the key. A path or the name of a service can look like one,
 * but a colon or a bar stands behind it.
 */
function isPartOfKey(
  text: string,
  { start, end, to }: { readonly start: number; readonly end: number; readonly to: number },
): boolean {
  if (!/^[ \t+]*$/.test(text.slice(end, to))) return false;
  let word = end;
  while (word > start && isBase64(text.charAt(word - 1))) word -= 1;
  return end - word >= keyLineCharsMin && (word === start || isBlank(text.charAt(word - 1)));
}

/** Returns true when a line ends right before the place. */
function endsLine(text: string, at: number): boolean {
  const last = text.charAt(at - 1);
  if (last === '\n' || last === '\r') return true;
  return (last === 'n' || last === 'r') && text.charAt(at - 2) === '\\';
}

function isCount(character: string): boolean {
  return character === ' ' || (character >= '0' && character <= '9');
}

export function isBlank(character: string): boolean {
  return character === ' ' || character === '\t';
}

export function isBase64(character: string): boolean {
  return /^[A-Za-z0-9+/=]$/.test(character);
}

/** @returns the end of a match of the sticky pattern at this place. */
export function readAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
