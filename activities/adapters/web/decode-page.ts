import { TextDecoder } from 'node:util';

/** Bytes at the beginning of HTML that name its character set, as browsers look for it. */
const headBytes = 1_024;

/**
 * Decodes a page by its byte order mark, the character set of its header, or that of its own `<meta>`; without any by UTF-8.
 *
 * @throws Error for a character set that is not known.
 */
export function decodePage(bytes: Buffer, contentType: string, isHtml: boolean): string {
  const named = findMark(bytes) ?? findCharset(contentType);
  const decoder = createDecoder(named ?? (isHtml ? findMeta(bytes) : null) ?? 'utf-8');
  // As a stream: at once, Node 20 reads windows-1252 as Latin-1.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}

function createDecoder(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    throw new Error(`The page is in the character set "${charset}", which is not known.`);
  }
}

function findMark(bytes: Buffer): string | null {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : null;
}

function findCharset(text: string): string | null {
  return /charset\s?=\s?["']?([\w.:+-]{1,40})/iu.exec(text)?.[1] ?? null;
}

function findMeta(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, headBytes);
  const tags = [...head.matchAll(/<meta\s[^>]*/giu)].map(([tag]) => findCharset(tag));
  const named = tags.find((one) => one !== null) ?? null;
  // It was read as bytes, so it can't be UTF-16.
  return named !== null && /^utf-?16/iu.test(named) ? 'utf-8' : named;
}
