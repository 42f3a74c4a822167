import { stripVTControlCharacters } from 'node:util';

/** Control characters but tab and line feed, and marks that change the direction of the text around them. */
const unsafe = /(?![\n\t])\p{Cc}|\p{Bidi_Control}/gu;
const lineBreaks = /\r\n|\p{Zl}|\p{Zp}/gu;

/** Text from a model or another user, harmless on a terminal. Keeps lines and tabs. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text.replaceAll(lineBreaks, '\n')).replaceAll(unsafe, '');
}

/** As `cleanText`, in one line of at most `charactersMax` characters. A cut is marked and splits no character. */
export function cleanLine(text: string, charactersMax = Number.POSITIVE_INFINITY): string {
  const line = cleanText(text).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= charactersMax) return line;
  const characters = Array.from(line);
  return characters.length <= charactersMax
    ? line
    : `${characters.slice(0, Math.max(0, charactersMax - 1)).join('')}…`;
}

/** As `cleanText`, each line that says something by itself. None for a blank text. */
export function cleanLines(text: string): string[] {
  return cleanText(text)
    .split('\n')
    .map((line) => cleanLine(line))
    .filter((line) => line !== '');
}

/** JSON that is harmless on a terminal: what `JSON.stringify` leaves unescaped is escaped too. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(unsafe, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}
