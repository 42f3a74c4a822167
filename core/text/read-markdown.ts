/**
 * Lines of a Markdown text, as far as rules have to tell headings and code apart.
 *
 * Invariants:
 *   ML1. Inside of a code block nothing is a heading, and a block that is never closed goes to the end.
 */
export interface MarkdownLine {
  /** From 1. */
  readonly number: number;
  /** Where it begins, in UTF-16 code units. */
  readonly at: number;
  readonly text: string;
  /** 1 to 6 for a heading, 0 for any other line. */
  readonly level: number;
  /** Whether it stands in a code block, or opens or closes one. */
  readonly isCode: boolean;
}

export function readMarkdown(text: string): MarkdownLine[] {
  const lines: MarkdownLine[] = [];
  let fence = '';
  for (const { 0: line, index: at } of text.matchAll(/^.*$/gmu)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1] ?? '';
    const isCode = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
    const level = isCode ? 0 : (/^ {0,3}(#{1,6})(?:\s|$)/u.exec(line)?.[1]?.length ?? 0);
    lines.push({ number: lines.length + 1, at, text: line, level, isCode });
  }
  return lines;
}

/** The words of a heading, without its marks. */
export function titleOfHeading({ text }: MarkdownLine): string {
  return text.replace(/^[\s#]+/u, '').trim();
}
