import { cleanLine } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { readMarkdown, titleOfHeading } from '../../core/text/markdown.ts';
import { countBytes, takeLines } from '../tools/cut-bytes.ts';

/** Headings that are named when they are left out. The rest is counted. */
const namedMax = 10;
const headingCharsMax = 80;

/** Kept free for the line that says what was left out. */
const noteBytesMax = 600;

interface Heading {
  /** Where its line begins, in UTF-16 code units. */
  readonly at: number;
  readonly title: string;
}

/**
 * A Markdown text of at most `bytesMax` bytes, cut where a section begins, and a line that names what was left out.
 *
 * The line counts: nothing gets longer than `bytesMax`, from 700 on. A section that would fill more than half of the room is cut at a line instead: its beginning says more than nothing.
 *
 * @param more how to get the rest, as a sentence. Empty when there is no way.
 */
export function cutAtSection(text: string, bytesMax: number, more: string): string {
  if (countBytes(text) <= bytesMax) return text;
  const room = Math.max(4, bytesMax - noteBytesMax);
  const headings = findHeadings(text);
  const fitting = takeLines(text, room);
  const boundary = headings.findLast(({ at }) => at > 0 && at <= fitting.length)?.at ?? 0;
  const isBoundary = countBytes(text.slice(0, boundary)) * 2 >= room;
  const shown = isBoundary ? text.slice(0, boundary) : fitting;
  const left = headings.filter(({ at }) => at >= shown.length).map(({ title }) => title);
  const open = isBoundary ? undefined : headings.findLast(({ at }) => at < shown.length);
  const rest = isBoundary ? [] : [`the rest of ${listNames([open?.title ?? 'the text'])}`];
  const bytes = `${countBytes(shown)} of ${countBytes(text)} bytes are shown.`;
  const note = (names: readonly string[]): string =>
    `\n[Left out: ${names.join(', ')}. ${bytes}${more === '' ? '' : ` ${more}`}]`;
  const named = note([...rest, ...(left.length > 0 ? [listNames(left, namedMax)] : [])]);
  // Headings may be long in bytes; their number never is.
  const fits = countBytes(named) <= noteBytesMax;
  return (
    shown.trimEnd() + (fits ? named : note([`${left.length} sections and what precedes them`]))
  );
}

function findHeadings(text: string): Heading[] {
  return readMarkdown(text).flatMap((line) =>
    line.level === 0
      ? []
      : [{ at: line.at, title: cleanLine(titleOfHeading(line), headingCharsMax) }],
  );
}
