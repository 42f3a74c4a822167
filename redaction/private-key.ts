import type { Span } from './span.ts';

/** Matches the beginning of a private key. The text after it decides whether it is one. */
const keyHeader = /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY/g;
const headerEnd = /(?: BLOCK)?-----/y;
const openHeaderEnd = /(?: BLOCK)?-{0,5}/y;

/** Matches `Proc-Type: `, `Comment: ` and similar fields between the first line and the key. */
const fieldName = /[A-Za-z-]{1,20}: /y;
const fieldValue = /[^\r\n\\]{0,200}/y;
/**
 * Matches field values of a key whose line breaks became spaces: they end before the first word that is long enough for
 * a key.
 */
const flatFieldValue = /[^\r\n\\]{0,200}?(?=\s{1,20}[A-Za-z0-9+/=]{16})/y;
const fieldsMax = 10;

const spaces = /\s*/y;
const escapedLineBreak = /\\[nr]/y;
const lineBreak = /[\r\n\\]/;

const base64 = /[A-Za-z0-9+/=]+/y;
/** Least length of a key's line. Shorter words are its last line, or no part of it. */
const keyLineCharsMin = 16;
const lineEnd = /[ \t]*(?:[\r\n]|\\[nr]|$)/y;
const keyFooter = /-----END[A-Z0-9 ]{0,40}-----/y;

/**
 * Finds private keys, each from its first line to its end: encrypted, with fields before the key, or cut off before its
 * end. Line breaks may be escaped, as in JSON.
 *
 * Reads on piece by piece instead of matching one pattern: a pattern that tries every way to divide a text into fields
 * and their values took time that doubled with every field. A place is read again only for headers that stand inside
 * the fields of another one, and those have a bound.
 */
export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const end = index < from ? undefined : findKeyEnd(text, index + header.length);
    if (end === undefined) continue;
    spans.push({ start: index, end, rule: 'privatekey' });
    from = end;
  }
  return spans;
}

/**
 * Finds the place in a growing text where a private key has begun and not ended.
 *
 * @returns the length of the text when there is none.
 */
export function findOpenPrivateKey(text: string): number {
  for (const { index, 0: header } of text.matchAll(keyHeader)) {
    const at = readAt(openHeaderEnd, text, index + header.length) ?? 0;
    if (skipKey(text, skipFields(text, at)) === text.length) return index;
  }
  return text.length;
}

/** @returns undefined when no key follows. */
function findKeyEnd(text: string, at: number): number | undefined {
  const fields = readAt(headerEnd, text, at);
  const end = fields === undefined ? undefined : readKey(text, skipFields(text, fields));
  return end === undefined ? undefined : (readAt(keyFooter, text, skipGap(text, end)) ?? end);
}

function skipFields(text: string, from: number): number {
  let at = from;
  for (let count = 0; count < fieldsMax; count += 1) {
    const gapEnd = skipGap(text, at);
    const value = gapEnd === at ? undefined : readAt(fieldName, text, gapEnd);
    if (value === undefined) break;
    const isFlat = !lineBreak.test(text.slice(at, gapEnd));
    const flatEnd = isFlat ? readAt(flatFieldValue, text, value) : undefined;
    at = flatEnd ?? readAt(fieldValue, text, value) ?? value;
  }
  return at;
}

/** @returns the end of a key's lines, or undefined when there is none. */
function readKey(text: string, at: number): number | undefined {
  let end: number | undefined;
  for (;;) {
    const from = skipGap(text, end ?? at);
    const to = readAt(base64, text, from);
    if (to === undefined) return end;
    if (to - from >= keyLineCharsMin) end = to;
    else return end !== undefined && isLastLine(text, to) ? to : end;
  }
}

function isLastLine(text: string, end: number): boolean {
  return readAt(lineEnd, text, end) !== undefined || text.startsWith('-----', skipGap(text, end));
}

/** Skips everything that may be a part of a key, even if it is too short for one. */
function skipKey(text: string, from: number): number {
  for (let at = from; ;) {
    const end = skipGap(text, readAt(base64, text, at) ?? at);
    if (end === at) return at;
    at = end;
  }
}

/** Skips white space and escaped line breaks. */
function skipGap(text: string, from: number): number {
  for (let at = from; ;) {
    const end = readAt(spaces, text, at) ?? at;
    const next = readAt(escapedLineBreak, text, end);
    if (next === undefined) return end;
    at = next;
  }
}

/** @returns the end of a match of the sticky pattern at this place. */
function readAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
