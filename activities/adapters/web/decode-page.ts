import { TextDecoder } from 'node:util';

/** Bytes at the beginning of HTML that name its character set, as browsers look for it. */
const headBytes = 1_024;

/**
 * Decodes a page by its byte order mark, the character set of its header, or that of its own `<meta>`; without any by UTF-8.
 * A name that is not known mostly stands for UTF-8 too ("none", "utf8mb4"), so it counts only when the bytes are not UTF-8.
 *
 * @throws Error for a character set that is not known, when the bytes are not UTF-8.
 */
export function decodePage(bytes: Buffer, contentType: string, isHtml: boolean): string {
  const named = findMark(bytes) ?? findCharset(contentType);
  const charset = named ?? (isHtml ? findMeta(bytes) : null) ?? 'utf-8';
  const decoder = createDecoder(charset);
  if (decoder === null) return decodeUnknown(bytes, charset);
  // As a stream: at once, Node 20 reads windows-1252 as Latin-1.
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}

function createDecoder(charset: string): TextDecoder | null {
  try {
    return new TextDecoder(charset);
  } catch {
    return null;
  }
}

function decodeUnknown(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
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

/** Comments, also one that does not end; `<!-->` is a whole one. */
const comments = /<!--(?:-?>|[^]*?(?:-->|$))/gu;

/** Tags with their attributes; a ">" in quotes does not end one. */
const metaTags = /<meta[\s/]((?:[^>"']|"[^"]*"|'[^']*')*)/giu;

/** Names of attributes with their values, which are in double quotes, in single ones or bare. */
const attributes = /([^\s"'/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?/gu;

function findMeta(bytes: Buffer): string | null {
  const head = bytes.toString('latin1', 0, headBytes).replace(comments, '');
  const tags = [...head.matchAll(metaTags)].map(([, inside = '']) => findCharsetOfTag(inside));
  const named = tags.find((one) => one !== null) ?? null;
  // It was read as bytes, so it can't be UTF-16.
  return named !== null && /^utf-?16/iu.test(named) ? 'utf-8' : named;
}

/** Finds what a `<meta>` says of the page: others, such as a description, only speak of character sets. */
function findCharsetOfTag(inside: string): string | null {
  const values = new Map(
    [...inside.matchAll(attributes)].map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      double ?? single ?? bare ?? '',
    ]),
  );
  const charset = values.get('charset');
  if (charset !== undefined) return findCharset(`charset=${charset.trim()}`);
  const isHeader = values.get('http-equiv')?.trim().toLowerCase() === 'content-type';
  return isHeader ? findCharset(values.get('content') ?? '') : null;
}
