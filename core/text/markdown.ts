/**
 * Reads Markdown, and builds it from untrusted texts: pages in the Web UI, files for people.
 *
 * Invariants:
 *   MD1. A text of a model or a user stays text: it opens no heading, list, emphasis, link, code or HTML.
 *   MD2. A code span or block ends where we end it, whatever it contains.
 *   MD3. Joined blocks keep the size limit; a block is shown whole or left out.
 *   ML1. Inside a code block nothing is a heading, and an unclosed block ends with the text.
 */
import { cleanLine, cleanLines, cutText } from './cut-text.ts';

/** Line of a Markdown text, as far as rules have to distinguish headings and code. */
export interface MarkdownLine {
  /** Line number, from 1. */
  readonly number: number;
  /** Position where it begins, in UTF-16 code units. */
  readonly at: number;
  readonly text: string;
  /** 1 to 6 for a heading, 0 for any other line. */
  readonly level: number;
  /** True when it stands in a code block, or opens or closes one. */
  readonly isCode: boolean;
}

export function readMarkdown(text: string): MarkdownLine[] {
  const lines: MarkdownLine[] = [];
  let fence: string | null = null;
  let at = 0;
  for (const line of text.split('\n')) {
    const next: string | null = nextFence(fence, line);
    const isCode = fence !== null || next !== null;
    const level = isCode ? 0 : levelOf(line);
    lines.push({ number: lines.length + 1, at, text: line, level, isCode });
    fence = next;
    at += line.length + 1;
  }
  return lines;
}

/** Returns the fence that is open after a line; null when none is. */
function nextFence(open: string | null, line: string): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (open === null || mark === undefined) return open ?? mark ?? null;
  return mark.startsWith(open) && line.trim() === mark ? null : open;
}

function levelOf(line: string): number {
  return /^ {0,3}(#{1,6})(?:\s|$)/u.exec(line)?.[1]?.length ?? 0;
}

/** Returns the words of a heading, without its marks. */
export function titleOfHeading({ text }: MarkdownLine): string {
  return text.replace(/^[\s#]+/u, '').trim();
}

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

/** Lines in one block of `joinLines`. */
const linesPerBlock = 10;

/** Joins lines to blocks of ten, because `joinBlocks` shows a block whole or not at all. */
export function joinLines(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  for (let i = 0; i < lines.length; i += linesPerBlock) {
    blocks.push(lines.slice(i, i + linesPerBlock).join('\n'));
  }
  return blocks;
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

/** Marks that turn the direction of the text after them, up to the end of the line. */
const turns = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text on one line: for a heading or a bullet, where a line break would end it, and a turned direction would go on. */
export function oneLine(text: string): string {
  return text.replaceAll(turns, '').replaceAll(/\s+/g, ' ').trim();
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
  /** Place of the whole text; shown when it was cut. */
  readonly whole: string;
}

/** HTML that hides what follows it until it is closed. */
const openEndedHtml = /<(?=[!?]|\/?(?:details|pre|script|style|textarea)\b)/gi;

/**
 * Images and HTML that a viewer loads by itself: the address can carry data of the run to whoever wrote it there. As text
 * they can be read, and followed by a person.
 */
const loadedByItself =
  /(?<!<)!(?=\[)|<(?=(?:audio|embed|iframe|image|img|input|link|object|source|svg|video)\b)/gi;

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
  /** Number of levels that the text's headings go down. */
  readonly depth: number;
}

/**
 * Makes a Markdown text a part of a larger document: cut at `charsMax` with a pointer to the whole, its headings below
 * ours, and neither a code block nor HTML left open, so that what follows is not swallowed by it. Outside of code blocks
 * it shows images as links, so that a preview of the document fetches nothing.
 */
export function embedMarkdown(text: string, options: EmbedOptions): string {
  const kept = cutText(text, options.charsMax);
  const lines: string[] = [];
  let fence: string | null = null;
  for (const line of kept.split(/\r?\n/)) {
    const next: string | null = nextFence(fence, line);
    lines.push(fence === null && next === null ? tameLine(line, options.depth) : line);
    fence = next;
  }
  if (fence !== null) lines.push(fence);
  const body = lines.join('\n').trim();
  if (kept === text) return body;
  return `${body}\n\n*${describeCut(text, options)}*`;
}

interface EmbedCodeOptions extends CutOptions {
  /** Shown where it is a plain word. */
  readonly language: string;
}

/** Code as a block, cut at `charsMax` with a pointer to the whole. Nothing in it ends the block. */
export function embedCode(text: string, options: EmbedCodeOptions): string {
  const kept = cutText(text, options.charsMax);
  const language = /^[\w+#.-]+$/.test(options.language) ? options.language : '';
  const block = fencedBlock(language, kept.trimEnd());
  return kept === text ? block : `${block}\n\n*${describeCut(text, options)}*`;
}

/** Appends a part of ours to a Markdown text, so that no code block of the text swallows it. */
export function appendMarkdown(text: string, part: string): string {
  const fence = text.split(/\r?\n/).reduce(nextFence, null);
  const closed = fence === null ? text.trimEnd() : `${text.trimEnd()}\n${fence}`;
  return `${closed}\n\n${part}\n`;
}

function tameLine(line: string, depth: number): string {
  return lowerHeading(line, depth)
    .replaceAll(loadedByItself, (mark) => (mark === '!' ? String.raw`\!` : '&lt;'))
    .replaceAll(openEndedHtml, '&lt;');
}

function lowerHeading(line: string, depth: number): string {
  const heading = /^ {0,3}(#{1,6})(?=\s)/.exec(line);
  if (heading?.[1] === undefined) return line;
  const level = Math.min(6, heading[1].length + depth);
  return `${'#'.repeat(level)}${line.slice(heading[0].length)}`;
}
