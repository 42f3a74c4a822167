import type { ReadableTail } from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';

/** Characters of the end that are shown. */
const tailCharsMax = 4_000;

/** Characters of the end that are kept for `lastWords`. */
const wordsCharsMax = 8_000;

/**
 * Characters at the end of what has arrived that are not shown yet. A name, a separator and enough of the secret behind it
 * to be found fit into it; what is longer is one word, or `findOpen` tells of it.
 */
const heldCharsMin = 160;

/** Characters that are looked at together. No secret is longer, and a look costs a tenth of a millisecond. */
const windowCharsMax = 32_000;

/** Places that are tried for a cut. The distance doubles each time, so the last one is far before any secret. */
const triesMax = 16;

export interface SettledText {
  /** What has arrived, as it came. */
  add(text: string): void;
  /** What can be shown: the same text, only longer, each time that it is asked for. */
  look(): ReadableTail;
  /** The end of all that has arrived, for when no more comes: without the word that may be half a secret. */
  lastWords(): string;
}

/**
 * Takes secrets out of a text that goes on, for readers who read on where they stopped.
 *
 * SX1. What was shown is never changed: what is shown later begins with it.
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
        // A word without an end, or a key: nobody reads on in it.
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
 * The last place, up to `from`, where a text can be cut so that each side is redacted as both are together: no word and
 * no secret reaches over it.
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

/** The last place, up to `from`, that no word reaches over. Scripts without spaces have one behind every character. */
function findBoundary(text: string, from: number): number {
  for (let at = from; at > 0; at -= 1) {
    if (/[\s\u0080-\ud7ff\udc00-\uffff]/.test(text.charAt(at - 1))) return at;
  }
  return 0;
}
