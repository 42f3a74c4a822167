/**
 * Cleans texts of models and users, so that they can stand inside another text.
 *
 * Invariants:
 *   CL1. A line has no control characters, no line breaks, no direction marks and no half surrogate pairs.
 */
import { cutText } from './cut-text.ts';

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
