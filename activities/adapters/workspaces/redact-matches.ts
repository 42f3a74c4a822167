import { cutText } from '../../../core/text/cut-text.ts';
import type { FileContent, SearchMatch, SearchResult } from '../../ports/workspaces.ts';
import { decodeUtf8 } from '../../text/bytes.ts';
import type { RedactLines } from './read-file.ts';
import { lineCharsMax } from './ripgrep.ts';

/**
 * Takes secrets of several lines out of the matches of a search. A line from within a private key looks like any data, so
 * the file around it is read.
 *
 * @param read Returns a file; null for one that can't be read.
 */
export async function redactMatches(
  { matches, isCut }: SearchResult,
  redact: RedactLines,
  read: (path: string) => Promise<FileContent | null>,
): Promise<SearchResult> {
  const redacted = new Map<string, Promise<readonly string[] | null>>();
  const redactFile = async (path: string): Promise<readonly string[] | null> => {
    const file = await read(path);
    const text = file === null ? null : decodeUtf8(file.content);
    if (text === null) return null;
    const lines = text.split('\n');
    const after = redact(lines);
    return after === lines ? null : after;
  };
  const shown: SearchMatch[] = [];
  for (const match of matches) {
    if (mayBeInside(match.text)) {
      const lines = redacted.get(match.path) ?? redactFile(match.path);
      redacted.set(match.path, lines);
      // One file after the other: each may have megabytes.
      // oxlint-disable-next-line no-await-in-loop
      const line = (await lines)?.[match.line - 1];
      const isHidden = line?.includes('[redacted:') === true;
      shown.push(isHidden ? { ...match, text: cutText(line.trimEnd(), lineCharsMax) } : match);
    } else shown.push(match);
  }
  return { matches: shown, isCut };
}

/** Least length of a word in Base64 that may be a part of a key. The last one of a key stands alone. */
const wordCharsMin = 16;

/** Characters that code writes behind a line of text, and before it. */
const codeEnds = ' \t\r+,;)]}"\'`';
const codeStarts = ' \t([{"\'`';

/** Returns true for a line that ends with a word in Base64, as those of a private key do, also in code. */
function mayBeInside(line: string): boolean {
  const text = trimCode(line);
  const word = text.split(/[\s:|>"'`-]/).at(-1) ?? '';
  return (word.length >= wordCharsMin || word === text) && /^[A-Za-z0-9+/=…]+$/.test(word);
}

/** Removes what code writes around a line of text, such as `  "…\n" +`. */
function trimCode(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && codeStarts.includes(line.charAt(start))) start += 1;
  for (;;) {
    while (end > start && codeEnds.includes(line.charAt(end - 1))) end -= 1;
    const isEscape = end - start > 1 && /^\\[nr]$/.test(line.slice(end - 2, end));
    if (!isEscape) return line.slice(start, end);
    end -= 2;
  }
}
