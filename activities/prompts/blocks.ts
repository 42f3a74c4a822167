import { countBytes, takeLines } from '../tools/cut-bytes.ts';

/**
 * Data in a prompt stands in blocks, `<name>…</name>`. What stands inside can't close its block: `<` is escaped in JSON
 * and `</` in plain text. So a goal, an answer or another agent's text can't pose as a block of the engine. A message
 * names its blocks in words only: a tag stands nowhere but where its block stands.
 */
export function textBlock(name: string, text: string, bytesMax: number): string {
  return `<${name}>\n${escapeText(cutAtLine(text.trimEnd(), bytesMax))}\n</${name}>`;
}

/** A text of at most `bytesMax` bytes, and a line that says so when it was longer. */
export function cutAtLine(text: string, bytesMax: number): string {
  const shown = takeLines(text, bytesMax);
  if (shown.length === text.length) return text;
  return `${shown.trimEnd()}\n[Cut: ${countBytes(shown)} of ${countBytes(text)} bytes are shown.]`;
}

/** A value as one line of JSON. */
export function jsonBlock(name: string, value: unknown): string {
  return `<${name}>${escapeJson(value)}</${name}>`;
}

/**
 * A list as JSON, as long as its entries fit in `bytesMax`. What is left out is said outside the block, so that the
 * block stays plain JSON.
 *
 * @param keep which end stays when not all fit.
 */
export function listBlock(
  name: string,
  entries: readonly unknown[],
  bytesMax: number,
  keep: 'first' | 'last' = 'first',
): string {
  const shown = takeEntries(entries, bytesMax, keep);
  const block = jsonBlock(name, shown);
  const left = entries.length - shown.length;
  if (left === 0) return block;
  const which = keep === 'first' ? 'last' : 'oldest';
  return `${block}\n[${name} is cut: the ${which} ${left} of ${entries.length} entries are left out.]`;
}

/** The entries at one end of a list, in its order, as many as fit in `bytesMax` as JSON. */
export function takeEntries<T>(
  entries: readonly T[],
  bytesMax: number,
  keep: 'first' | 'last',
): T[] {
  const ordered = keep === 'first' ? entries : entries.toReversed();
  const shown: T[] = [];
  let bytes = 0;
  for (const entry of ordered) {
    bytes += countBytes(escapeJson(entry)) + 1;
    if (bytes > bytesMax) break;
    shown.push(entry);
  }
  return keep === 'first' ? shown : shown.toReversed();
}

function escapeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

function escapeText(text: string): string {
  return text.replaceAll('</', '&lt;/');
}
