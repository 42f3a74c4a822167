import {
  frameOf,
  isBase64,
  isBlank,
  keyLineCharsMin,
  keyPieceCharsMin,
  type LineFrame,
  readAt,
  skipJoint,
  skipPrefix,
} from './line-prefix.ts';
import type { Span } from './span.ts';

/** Matches the beginning of a private key. The text after it decides whether it is one. */
const keyHeader = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY/g;
const headerEnd = /(?: BLOCK)?-----/y;
const openHeaderEnd = /(?: BLOCK)?-{0,5}/y;

/** Matches `Proc-Type: `, `Comment: ` and similar fields between the first line and the key. */
const fieldName = /[A-Za-z-]{1,20}: /y;
const fieldValue = /[^\r\n\\]{0,200}/y;
const quotedFieldValue = /[^\r\n\\"'`]{0,200}/y;
/**
 * Matches field values of a key whose line breaks became spaces: they end before the first word that is long enough for
 * a key.
 */
const flatFieldValue = /[^\r\n\\]{0,200}?(?=\s{1,20}[A-Za-z0-9+/=]{16})/y;
const fieldsMax = 10;

const spaces = /\s*/y;
const indent = /[ \t]*/y;
const escapedLineBreak = /\\{1,4}[nr]/y;
const lineBreak = /[\r\n\\]/;

const base64 = /[A-Za-z0-9+/=]+/y;
const lineEnd = /[ \t]*(?:[\r\n]|\\{1,4}[nr]|$)/y;
/** Matches the end of a key's line that has a prefix: a line of code goes on in another way. */
const prefixedLineEnd = /[ \t]*(?:[\r\n\\"'`…;,)\]}]|$)/y;
const keyFooter = /-----END[A-Z0-9 ]{0,40}-----/y;
const anyKeyFooter = /-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Signs before the first word of a key that stands in code or is cut. */
const quotes = '"\\\'`…(:,->|#*';
/** Signs between the strings of a key in code. */
const jointSigns = ' \t"\\\'`,+.&';
/** Most characters before a last line that may belong to its key: several times the longest one. */
const tailCharsMax = 100_000;
const anyLineBreak = /\r\n|[\r\n]|\\{1,4}[nr]/g;

/**
 * Finds private keys, each from its first line to its end: encrypted, with fields before the key, or without its end or
 * its beginning. Line breaks may be escaped, as in JSON, and each line may have a prefix, as in a patch, in a result of
 * a search, or in a file with line numbers, or be a string of its own in code.
 *
 * Reads on piece by piece instead of matching one pattern: a pattern that tries every way to divide a text into fields
 * and their values took time that doubled with every field. A place is read again only for headers that stand inside
 * the fields of another one, and those have a bound.
 */
export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const frame = index < from ? undefined : frameOf(text, from, index);
    const end = frame === undefined ? undefined : findKeyEnd(text, index + header.length, frame);
    if (end === undefined) continue;
    spans.push({ start: index, end, rule: 'privatekey' });
    from = end;
  }
  return [...spans, ...findKeyTails(text, spans)];
}

/**
 * Finds the place in a growing text where a private key has begun and not ended.
 *
 * @returns the length of the text when there is none.
 */
export function findOpenPrivateKey(text: string): number {
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const frame = frameOf(text, 0, index);
    const at = readAt(openHeaderEnd, text, index + header.length) ?? 0;
    if (skipKey(text, skipFields(text, at, frame), frame) === text.length) return index;
  }
  return text.length;
}

/** @returns undefined when no key follows. */
function findKeyEnd(text: string, at: number, frame: LineFrame): number | undefined {
  const fields = readAt(headerEnd, text, at);
  const end =
    fields === undefined ? undefined : readKey(text, skipFields(text, fields, frame), frame);
  if (end === undefined) return undefined;
  return readAt(keyFooter, text, skipGap(text, end, frame).end) ?? end;
}

function skipFields(text: string, from: number, frame: LineFrame): number {
  let at = from;
  for (let count = 0; count < fieldsMax; count += 1) {
    const { end: gapEnd, isJoined } = skipGap(text, at, frame);
    const value = gapEnd === at ? undefined : readAt(fieldName, text, gapEnd);
    if (value === undefined) break;
    const isFlat = !isJoined && !lineBreak.test(text.slice(at, gapEnd));
    const flatEnd = isFlat ? readAt(flatFieldValue, text, value) : undefined;
    at = flatEnd ?? readAt(isJoined ? quotedFieldValue : fieldValue, text, value) ?? value;
  }
  return at;
}

/** @returns the end of a key's lines, or undefined when there is none. */
function readKey(text: string, at: number, frame: LineFrame): number | undefined {
  let end: number | undefined;
  for (;;) {
    const gap = skipGap(text, end ?? at, frame);
    const to = readAt(base64, text, gap.end);
    if (to === undefined) return end;
    if (gap.hasPrefix && readAt(prefixedLineEnd, text, to) === undefined) return end;
    if (to - gap.end >= leastOf(gap.isJoined && end === undefined)) end = to;
    else return end !== undefined && isLastLine(text, to, frame) ? to : end;
  }
}

/** Returns the least length of a key's line. */
function leastOf(isFirstPiece: boolean): number {
  return isFirstPiece ? keyPieceCharsMin : keyLineCharsMin;
}

function isLastLine(text: string, end: number, frame: LineFrame): boolean {
  return (
    readAt(lineEnd, text, end) !== undefined ||
    text.startsWith('-----', skipGap(text, end, frame).end)
  );
}

/** Skips everything that may be a part of a key, even if it is too short for one. */
function skipKey(text: string, from: number, frame: LineFrame): number {
  for (let at = from; ;) {
    const { end } = skipGap(text, readAt(base64, text, at) ?? at, frame);
    if (end === at) return at;
    at = end;
  }
}

interface Gap {
  readonly end: number;
  /** True when it ends with the prefix of a line. */
  readonly hasPrefix: boolean;
  /** True when one string of code ends in it and another begins. */
  readonly isJoined: boolean;
}

/** Skips white space, escaped line breaks, the prefix of each line that begins there, and what joins strings of code. */
function skipGap(text: string, from: number, frame: LineFrame): Gap {
  let isLineStart = false;
  let hasPrefix = false;
  let isJoined = false;
  for (let at = from; ;) {
    const end = readAt(spaces, text, at) ?? at;
    isLineStart ||= lineBreak.test(text.slice(at, end));
    const next = readAt(escapedLineBreak, text, end);
    if (next !== undefined) {
      isLineStart = true;
      at = next;
      continue;
    }
    const joint = skipJoint(text, end, frame);
    isJoined ||= joint > end;
    const after = isLineStart && joint === end ? skipPrefix(text, end, frame) : joint;
    if (after === end) return { end, hasPrefix, isJoined };
    isLineStart = false;
    hasPrefix = true;
    at = after;
  }
}

/**
 * Finds the ends of keys whose beginning is missing. A text is read back from each last line, and no place twice.
 *
 * @param keys Keys with a beginning, in order.
 */
function findKeyTails(text: string, keys: readonly Span[]): Span[] {
  const spans: Span[] = [];
  let from = 0;
  let next = 0;
  for (const { index, 0: footer } of text.matchAll(anyKeyFooter)) {
    const end = index + footer.length;
    for (; (keys[next]?.start ?? Infinity) < end; next += 1) from = keys[next]?.end ?? from;
    if (index < from) continue;
    const start = findTailStart(text, from, index);
    if (start !== undefined) spans.push({ start, end, rule: 'privatekey' });
    from = end;
  }
  return spans;
}

/** @returns undefined when no key stands before the last line at `footer`. */
function findTailStart(text: string, from: number, footer: number): number | undefined {
  const frame = frameOf(text, from, footer);
  let found: number | undefined;
  for (const { start, end } of listLines(text, from, footer).toReversed()) {
    const content = skipPrefix(text, readAt(indent, text, start) ?? start, frame);
    // Between two strings of code lines are empty, because escapes end lines too.
    if (content >= end && end < footer && !frame.isQuoted) return found;
    const line = readBack(text, Math.min(content, end), end, found !== undefined, frame);
    found = line.start ?? found;
    if (!line.isWhole) return found;
  }
  return found;
}

/** Lists the lines before a place, each without its end. */
function listLines(text: string, from: number, to: number): Pick<Span, 'start' | 'end'>[] {
  const first = Math.max(from, to - tailCharsMax);
  const lines: Pick<Span, 'start' | 'end'>[] = [];
  let start = first;
  for (const { index, 0: end } of text.slice(first, to).matchAll(anyLineBreak)) {
    lines.push({ start, end: first + index });
    start = first + index + end.length;
  }
  return [...lines, { start, end: to }];
}

/**
 * Reads the words of a line back from its end, as far as they may be parts of a key.
 *
 * @param isInside True when a part of the key was found behind the line.
 * @returns the first word that is long enough for a key, and whether all words of the line may belong to it.
 */
function readBack(
  text: string,
  from: number,
  to: number,
  isInside: boolean,
  { isQuoted }: LineFrame,
): { readonly start: number | undefined; readonly isWhole: boolean } {
  const isGap = gapOf(isQuoted);
  const charsMin = leastOf(isQuoted && !isInside);
  let start: number | undefined;
  let isLast = !isInside;
  for (let at = to; ;) {
    const end = skipBack(text, from, at, isGap);
    if (end === from) return { start, isWhole: true };
    at = skipBack(text, from, end, isBase64);
    const isWord = at === from || isGap(text.charAt(at - 1));
    const isKey = isKeyWord(text, at, end, isWord, charsMin) || (at === 0 && !isLast);
    if (isKey) start = at;
    if (!isWord || at === end || !(isKey || isLast)) return { start, isWhole: false };
    isLast = false;
  }
}

/** Returns false for words that may only be the end of a key, or, at the beginning of a text, the end of a line of it. */
function isKeyWord(
  text: string,
  from: number,
  to: number,
  isWord: boolean,
  charsMin: number,
): boolean {
  return to - from >= charsMin && (isWord || quotes.includes(text.charAt(from - 1)));
}

/** Returns the test for what may stand between two words of a key. */
function gapOf(isQuoted: boolean): (character: string) => boolean {
  if (!isQuoted) return isBlank;
  return (character) => character !== '' && jointSigns.includes(character);
}

function skipBack(
  text: string,
  from: number,
  to: number,
  is: (character: string) => boolean,
): number {
  let at = to;
  while (at > from && is(text.charAt(at - 1))) at -= 1;
  return at;
}
