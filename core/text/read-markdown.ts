/**
 * Splits a Markdown text into lines, and tells headings and code apart.
 *
 * Invariants:
 *   ML1. Inside a code block nothing is a heading, and an unclosed block ends with the text.
 */
export interface MarkdownLine {
  /** Line number, from 1. */
  readonly number: number;
  /** Offset of its first character, in UTF-16 code units. */
  readonly at: number;
  readonly text: string;
  /** 1 to 6 for a heading, 0 for any other line. */
  readonly level: number;
  /** True inside a code block, and for the lines that open and close one. */
  readonly isCode: boolean;
}

export function readMarkdown(text: string): MarkdownLine[] {
  const lines: MarkdownLine[] = [];
  let fence = '';
  let at = 0;
  for (const line of text.split('\n')) {
    const start = line.trimStart();
    const mark = start.startsWith('```') || start.startsWith('~~~') ? markOf(line) : '';
    const isCode = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    const level = isCode || !start.startsWith('#') ? 0 : levelOf(line);
    lines.push({ number: lines.length + 1, at, text: line, level, isCode });
    at += line.length + 1;
  }
  return lines;
}

function markOf(line: string): string {
  return /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1] ?? '';
}

function levelOf(line: string): number {
  return /^ {0,3}(#{1,6})(?:\s|$)/u.exec(line)?.[1]?.length ?? 0;
}

/** Returns the words of a heading, without its marks. */
export function titleOfHeading({ text }: MarkdownLine): string {
  return text.replace(/^[\s#]+/u, '').trim();
}
