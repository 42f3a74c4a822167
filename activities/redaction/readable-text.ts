import type { ArrivedPiece, ReadableTail } from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';

/** Most characters of a field's name that are kept: no wanted name is longer. */
const keyCharsMax = 40;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Text of the wanted strings in a piece of JSON. */
interface StringPart {
  /** Number of wanted strings that began before. Parts with one number belong to one string. */
  readonly string: number;
  /** Without escapes. */
  readonly text: string;
}

/**
 * Reads the strings of some fields of an object while its JSON streams.
 *
 * JS1. However the JSON is cut into pieces, the parts joined are the strings of these fields, as `JSON.parse` returns
 *      them; deeper objects are ignored.
 *
 * @param fields Names of the fields, in the outermost object only.
 */
export function createJsonStrings(
  fields: ReadonlySet<string>,
): (piece: string) => readonly StringPart[] {
  let depth = 0;
  let isValue = false;
  let key = '';
  /** Null outside of a string. */
  let inside: 'key' | 'wanted' | 'other' | null = null;
  /** The part of an unfinished escape after the backslash. */
  let escape: string | null = null;
  let count = 0;

  const beginString = (): void => {
    inside = 'other';
    if (depth !== 1) return;
    inside = isValue ? (fields.has(key) ? 'wanted' : 'other') : 'key';
    if (inside === 'key') key = '';
    if (inside === 'wanted') count += 1;
  };
  const readOutside = (character: string): void => {
    if (character === '"') beginString();
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (depth === 1 && character === ':') isValue = true;
    else if (depth === 1 && character === ',') isValue = false;
  };
  /** @returns the text of the character; empty inside an unfinished escape. */
  const readInside = (character: string): string => {
    if (escape === null) {
      if (character === '\\') escape = '';
      else if (character === '"') inside = null;
      else return character;
      return '';
    }
    escape += character;
    if (escape.startsWith('u') && escape.length < 5) return '';
    const text = readEscape(escape);
    escape = null;
    return text;
  };

  return (piece) => {
    const parts = new Map<number, string>();
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece.charAt(at);
      const within = inside;
      if (within === null) readOutside(character);
      else {
        const text = readInside(character);
        if (within === 'wanted') parts.set(count, (parts.get(count) ?? '') + text);
        else if (within === 'key' && key.length < keyCharsMax) key += text;
      }
    }
    return [...parts].flatMap(([string, text]) => (text === '' ? [] : [{ string, text }]));
  };
}

function readEscape(escape: string): string {
  if (!escape.startsWith('u')) return escapes[escape] ?? escape;
  return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
}

/** Fields of an agent's output that people read. */
const outputFields: ReadonlySet<string> = new Set(['compact_md', 'detailed_md']);

/** Fields of a call that people read: the task that a leader creates. */
const callFields: ReadonlySet<string> = new Set(['task']);

/** Separates two texts of one reply. */
const gap = '\n\n';

type Read = (piece: string) => readonly StringPart[];

/**
 * Extracts the readable text of a reply while it streams: free text, the two texts of an output, and the tasks of
 * calls, without the JSON around them. They stay in order, with an empty line in between.
 *
 * RX1. However the stream is cut into pieces, the results of the pieces joined are the same text.
 *
 * @param isFree True when the reply is text and not JSON.
 * @returns the text of a piece; usually a few characters, and nothing for most of the JSON.
 */
export function createReadableText(isFree: boolean): (piece: ArrivedPiece) => string {
  const readers = new Map<number, Read>();
  let last = '';
  return ({ block, kind, text }) => {
    let read = readers.get(block);
    if (read === undefined) {
      read = kind === 'arguments' ? createJsonStrings(callFields) : readText(isFree);
      readers.set(block, read);
    }
    return read(text)
      .map((part) => {
        const place = `${block}.${part.string}`;
        const isNew = last !== '' && last !== place;
        last = place;
        return isNew ? gap + part.text : part.text;
      })
      .join('');
  };
}

/** Creates a reader of text. Where JSON was requested, a text that begins differently is said before calls. */
function readText(isFree: boolean): Read {
  let read: Read | null = isFree ? readAll : null;
  return (piece) => {
    const text = read === null ? piece.trimStart() : piece;
    if (text === '') return [];
    read ??= /^[{`]/.test(text) ? createJsonStrings(outputFields) : readAll;
    return read(text);
  };
}

function readAll(text: string): readonly StringPart[] {
  return text === '' ? [] : [{ string: 0, text }];
}

/** Most characters of the end that are shown. */
const tailCharsMax = 4_000;

/** Most characters of the end that are kept for `lastWords`. */
const wordsCharsMax = 8_000;

/**
 * Characters at the end of the arrived text that are not shown yet. They hold a name, a separator and enough of a
 * secret to recognise it; a longer secret is one word, or `findOpen` finds it.
 */
const heldCharsMin = 160;

/**
 * Most characters that are redacted together. No secret is longer, and one redaction takes a tenth of a millisecond.
 */
const windowCharsMax = 32_000;

/** Most places that are tried for a cut. The distance doubles each time, so the last one is far before any secret. */
const triesMax = 16;

export interface SettledText {
  add(text: string): void;
  /** Returns the visible text, which only grows from call to call. */
  look(): ReadableTail;
  /** Returns the last words of a cut stream, from its readable text if there is any. */
  lastWords(): string;
}

/**
 * Takes secrets out of a growing text, for readers that continue where they stopped.
 *
 * SX1. Shown text never changes: later text begins with it.
 * SX2. No part of a secret is shown, however the text is cut into pieces.
 * SX3. It keeps a bounded part of the text.
 */
export function createSettledText(redactor: Redactor): SettledText {
  const redact = (text: string): string => redactor.redactText(text, 'progress');
  let waiting = '';
  let settled = '';
  let chars = 0;
  let isOver = false;

  const show = (text: string): void => {
    chars += text.length;
    settled = (settled + text).slice(-wordsCharsMax);
  };
  const look = (): ReadableTail => {
    while (!isOver) {
      const window = waiting.slice(0, windowCharsMax);
      const from = Math.min(window.length - heldCharsMin, redactor.findOpen(window));
      const cut = findCut(window, from, redact);
      if (cut > 0) {
        show(redact(window.slice(0, cut)));
        waiting = waiting.slice(cut);
      } else if (window.length === windowCharsMax) {
        // A word without an end, or a key: nothing after it is shown.
        isOver = true;
        waiting = '';
      }
      if (cut === 0 || window.length < windowCharsMax) break;
    }
    return { text: settled.slice(-tailCharsMax), chars };
  };
  return {
    add: (text) => {
      if (!isOver) waiting += text;
    },
    look,
    lastWords: () => {
      look();
      const rest = redact(waiting.slice(0, findCut(waiting, redactor.findOpen(waiting), redact)));
      return (settled + rest).trimEnd().slice(-wordsCharsMax);
    },
  };
}

/**
 * Finds the last place, up to `from`, where the text can be cut so that redacting both sides gives the same as
 * redacting the whole: no word and no secret crosses it.
 *
 * @returns 0 when there is no such place yet.
 */
function findCut(text: string, from: number, redact: (text: string) => string): number {
  let at = findBoundary(text, from);
  if (at === 0) return 0;
  const whole = redact(text);
  for (let tries = 1; at > 0 && tries <= triesMax; tries += 1) {
    if (redact(text.slice(0, at)) + redact(text.slice(at)) === whole) return at;
    at = findBoundary(text, at - 2 ** tries);
  }
  return 0;
}

/** Finds the last place, up to `from`, that no word crosses. Scripts without spaces have one after each character. */
function findBoundary(text: string, from: number): number {
  for (let at = from; at > 0; at -= 1) {
    if (/[\s\u0080-\ud7ff\udc00-\uffff]/.test(text.charAt(at - 1))) return at;
  }
  return 0;
}
