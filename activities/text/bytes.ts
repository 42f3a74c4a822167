import { createHash } from 'node:crypto';

const encoder = new TextEncoder();
// A byte order mark is treated like any other character of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Counts the bytes of a text as UTF-8. */
export function countBytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/**
 * Returns the beginning of a text, at most `bytesMax` (at least 4) bytes of UTF-8, cut at the end of a line. Where that
 * would leave less than half of the limit, the next line is cut between two characters. A text that fits is returned
 * whole.
 */
export function takeLines(text: string, bytesMax: number): string {
  if (countBytes(text) <= bytesMax) return text;
  // A code unit is one byte or more, so the rest of a long text need not be encoded.
  const bytes = encoder.encode(text.slice(0, bytesMax + 1));
  const lineEnd = bytes.lastIndexOf(0x0a, bytesMax - 1);
  let end = lineEnd + 1 >= bytesMax / 2 ? lineEnd + 1 : bytesMax;
  // A byte of the form 10xxxxxx continues a character: step back to where the cut one begins.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end));
}

/**
 * Splits a text into pages of at most `bytesMax` bytes, each cut like in `takeLines`. An empty text is one empty page.
 */
export function splitPages(text: string, bytesMax: number): string[] {
  const pages: string[] = [];
  let rest = text;
  while (countBytes(rest) > bytesMax) {
    const page = takeLines(rest, bytesMax);
    pages.push(page);
    rest = rest.slice(page.length);
  }
  return [...pages, rest];
}

/** Returns the SHA-256 of bytes, or of a text as UTF-8: 64 lower-case hex digits. */
export function hashBytes(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Decodes a text. @returns null for bytes that are no UTF-8, or hold a NUL, as no text does. */
export function decodeText(bytes: Uint8Array): string | null {
  return bytes.includes(0) ? null : decodeUtf8(bytes);
}

/** @returns null for bytes that are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
