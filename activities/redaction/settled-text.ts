import type { ReadableTail } from '../ports/model-client.ts';
import type { Redactor } from '../ports/redactor.ts';

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
  /** Adds arrived text. */
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
