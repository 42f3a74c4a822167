/**
 * Builds Markdown for Temporal's current details from untrusted texts.
 *
 * Invariants:
 *   MD1. A text of a model or a user stays text: it opens no heading, list, emphasis, link, code or HTML.
 *   MD2. A code span or block ends where we end it, whatever it contains.
 *   MD3. Joined blocks keep the size limit; a block is shown whole or left out.
 */
import { cleanLine, cleanLines } from '../text/clean-line.ts';

/** Escapes one line of text inside a paragraph, heading or bullet. */
export function plainText(text: string, maxChars: number): string {
  return cleanLine(text, maxChars)
    .replace(/[\\`*[\]<>~|&]/g, String.raw`\$&`)
    .replace(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, String.raw`\_`)
    .replace(/^[#+=-]/, String.raw`\$&`)
    .replace(/^(\d+)([.)])/, String.raw`$1\$2`);
}

/** Returns a code span with as many backticks as the text requires. */
export function codeSpan(text: string, maxChars: number): string {
  const line = cleanLine(text, maxChars);
  if (line === '') return '';
  const fence = '`'.repeat(longestRun(line) + 1);
  const pad = /^`|`$/.test(line) ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Returns a block of plain text of several lines, cut at `maxChars`. */
export function textBlock(text: string, maxChars: number): string {
  return fencedBlock('text', cleanLines(text, maxChars));
}

/** Returns a code block that can be copied line by line. */
export function codeBlock(lines: readonly string[]): string {
  return fencedBlock('sh', lines.join('\n'));
}

function fencedBlock(language: string, body: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(body) + 1));
  return `${fence}${language}\n${body}\n${fence}`;
}

export function bullet(text: string): string {
  return `- ${text}`;
}

/** Joins as many blocks as fit with blank lines, then says how to see the others. */
export function joinBlocks(blocks: readonly string[], maxBytes: number): string {
  const rest = '… more is left out here; the queries and the client show all of it.';
  const room = maxBytes - countBytes(rest) - 2;
  const shown: string[] = [];
  let used = 0;
  for (const block of blocks) {
    if (block === '') continue;
    const size = countBytes(block) + 2;
    if (used + size > room) return [...shown, rest].join('\n\n');
    shown.push(block);
    used += size;
  }
  return shown.join('\n\n');
}

/** Counts UTF-8 bytes. */
export function countBytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes += 1;
    else if (point < 0x800) bytes += 2;
    else bytes += point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
