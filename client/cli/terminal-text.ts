import { stripVTControlCharacters, styleText } from 'node:util';
import { cleanLine as cleanUnseen } from '../../core/text/cut-text.ts';

/** Control characters except tab and line feed, and marks that change the direction of the surrounding text. */
const unsafe = /(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu;
const lineBreaks = /\r\n|\p{Zl}|\p{Zp}/gu;

/** Makes text from a model or another user harmless on a terminal. Keeps lines and tabs. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll(lineBreaks, '\n')).replaceAll(unsafe, '');
}

/**
 * Works like `cleanText`, but returns one line of at most `charactersMax` characters. A cut is marked and splits no
 * character.
 */
export function cleanLine(text: string, charactersMax = Number.POSITIVE_INFINITY): string {
  return cleanUnseen(stripVTControlCharacters(text), charactersMax);
}

/** Works like `cleanText`, but returns each line that is not blank. None for a blank text. */
export function cleanLines(text: string): string[] {
  return cleanText(text)
    .split('\n')
    .map((line) => cleanLine(line))
    .filter((line) => line !== '');
}

/** Formats JSON that is harmless on a terminal: escapes also what `JSON.stringify` leaves unescaped. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(unsafe, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

export type Tone = 'good' | 'bad' | 'attention' | 'quiet' | 'strong';

/** Colours a text, or leaves it unchanged where there are no colours. */
export type Paint = (tone: Tone, text: string) => string;

const styles = {
  good: 'green',
  bad: 'red',
  attention: 'yellow',
  quiet: 'gray',
  strong: 'bold',
} as const satisfies Record<Tone, string>;

export function createPaint(colour: boolean): Paint {
  return (tone, text) => (colour ? styleText(styles[tone], text) : text);
}

/** Renders columns as wide as their widest cell, two spaces apart. Has no header line when `headers` is empty. */
export function renderTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = headers.length === 0 ? rows : [headers, ...rows];
  const widths: number[] = [];
  for (const row of all) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, Array.from(cell).length);
    }
  }
  return all.map((row) => {
    const cells = row.map((cell, index) => {
      return cell + ' '.repeat((widths[index] ?? 0) - Array.from(cell).length);
    });
    return cells.join('  ').trimEnd();
  });
}

/** Characters that take two columns of a terminal. */
const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/u;
/** Characters that take none: marks on the character before, and joiners. */
const narrow = /\p{M}|\u200b|\u200c|\u200d/u;
const colourCode = /(\p{Cc}\[[0-9;]*m)/u;

/** Cuts a painted line to the columns of a terminal. Every colour code stays, since one of them ends the last colour. */
export function cutToColumns(line: string, columnsMax: number): string {
  const parts = line.split(colourCode);
  const texts = parts.filter((_part, at) => at % 2 === 0);
  if (sumColumns(texts.join('')) <= columnsMax) return line;
  let left = columnsMax - 1;
  return parts
    .map((part, at) => {
      if (at % 2 === 1 || left < 0) return at % 2 === 1 ? part : '';
      let kept = '';
      for (const character of part) {
        left -= columnsOf(character);
        if (left < 0) return `${kept}…`;
        kept += character;
      }
      return kept;
    })
    .join('');
}

/**
 * Breaks a line between words where it is wider than a terminal. The lines after the first have its indentation. A word
 * that is wider alone is left to the terminal.
 */
export function wrapToColumns(line: string, columnsMax: number): string[] {
  const indent = /^ */u.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    const longer = current === indent ? `${indent}${word}` : `${current} ${word}`;
    if (current === indent || sumColumns(stripVTControlCharacters(longer)) <= columnsMax) {
      current = longer;
    } else {
      lines.push(current);
      current = `${indent}${word}`;
    }
  }
  return [...lines, current];
}

function sumColumns(text: string): number {
  return Array.from(text, columnsOf).reduce((sum, columns) => sum + columns, 0);
}

function columnsOf(character: string): number {
  if (narrow.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
