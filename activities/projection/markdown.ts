import { cutText } from '../../core/text/cut-text.ts';

/** A text on one line: for a heading or a bullet, where a line break would end it. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** A text of several lines as one bullet: its other lines are indented, so that they stay inside it. */
export function bullet(text: string): string {
  return `- ${text.trim().replaceAll(/\r?\n/g, '\n  ')}`;
}

/** A bullet for each entry, or one line that says there is none. */
export function bullets(entries: readonly string[], none: string): string {
  return entries.length === 0 ? none : entries.map(bullet).join('\n');
}

/** A table. No cell ends its row or its column. */
export function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  return [headers, headers.map(() => '---'), ...rows].map(tableRow).join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell).replaceAll(/[\\|]/g, String.raw`\$&`)).join(' | ')} |`;
}

/** Sections of a document, a blank line between any two, and one line break at its end. */
export function joinSections(sections: readonly (string | null)[]): string {
  return `${sections.filter((section) => section !== null && section !== '').join('\n\n')}\n`;
}

interface CutOptions {
  /** Characters that are kept. */
  readonly charsMax: number;
  /** Where the whole text is; shown when it was cut. */
  readonly whole: string;
}

/** HTML that hides what follows it until somebody closes it. */
const openEndedHtml = /<(?=[!?]|\/?(?:details|pre|script|style|textarea)\b)/gi;

/** A text on one line, cut with a pointer to the whole. It leaves no HTML open. */
export function cutLine(text: string, options: CutOptions): string {
  const line = oneLine(text);
  const kept = cutText(line, options.charsMax).replaceAll(openEndedHtml, '&lt;');
  return line.length <= options.charsMax ? kept : `${kept} (${describeCut(text, options)})`;
}

function describeCut(text: string, { charsMax, whole }: CutOptions): string {
  return `cut after ${charsMax} of ${text.length} characters; whole: ${whole}`;
}

interface EmbedOptions extends CutOptions {
  /** How many levels the text's headings go down. */
  readonly depth: number;
}

/**
 * Somebody's Markdown as a part of a larger document: cut at `charsMax` with a pointer to the whole, its headings below
 * ours, and neither a code block nor HTML left open, so that what follows is not swallowed by it.
 */
export function embedMarkdown(text: string, options: EmbedOptions): string {
  const kept = cutText(text, options.charsMax);
  const lines: string[] = [];
  let fence: string | null = null;
  for (const line of kept.split(/\r?\n/)) {
    const mark = markOf(line);
    lines.push(fence === null && mark === null ? tameLine(line, options.depth) : line);
    fence = nextFence(fence, line);
  }
  if (fence !== null) lines.push(fence);
  const body = lines.join('\n').trim();
  if (kept === text) return body;
  return `${body}\n\n*${describeCut(text, options)}*`;
}

interface EmbedCodeOptions extends CutOptions {
  /** As somebody named it: shown where it is a plain word. */
  readonly language: string;
}

/** Somebody's code as a block, cut at `charsMax` with a pointer to the whole. Nothing in it ends the block. */
export function embedCode(text: string, options: EmbedCodeOptions): string {
  const kept = cutText(text, options.charsMax);
  const longest = Math.max(2, ...[...kept.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const language = /^[\w+#.-]+$/.test(options.language) ? options.language : '';
  const block = `${fence}${language}\n${kept.trimEnd()}\n${fence}`;
  return kept === text ? block : `${block}\n\n*${describeCut(text, options)}*`;
}

/** Somebody's Markdown as it is, with a part of ours after it that no code block of theirs swallows. */
export function appendMarkdown(text: string, part: string): string {
  const fence = text.split(/\r?\n/).reduce(nextFence, null);
  const closed = fence === null ? text.trimEnd() : `${text.trimEnd()}\n${fence}`;
  return `${closed}\n\n${part}\n`;
}

function markOf(line: string): string | null {
  return /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
}

/** Which fence is open after a line; null when none is. */
function nextFence(open: string | null, line: string): string | null {
  const mark = markOf(line);
  if (open === null || mark === null) return open ?? mark;
  const closes = mark.startsWith(open) && line.trim() === mark;
  return closes ? null : open;
}

function tameLine(line: string, depth: number): string {
  return lowerHeading(line, depth).replaceAll(openEndedHtml, '&lt;');
}

function lowerHeading(line: string, depth: number): string {
  const heading = /^ {0,3}(#{1,6})(?=\s)/.exec(line);
  if (heading?.[1] === undefined) return line;
  const level = Math.min(6, heading[1].length + depth);
  return `${'#'.repeat(level)}${line.slice(heading[0].length)}`;
}
