import * as fc from 'fast-check';
import { cleanLine, cleanLines, cleanText, safeJson } from '../../../client/cli/terminal-text.ts';

it('removes escape sequences and control characters', () => {
  expect(cleanText('\u001B[31mred\u001B[0m \u0007bell\u0000 \u009B2Jclear')).toBe('red bell clear');
});

it('removes marks that turn the text around', () => {
  expect(cleanText('rm \u202Etxt.exe\u2066')).toBe('rm txt.exe');
});

it('keeps lines, tabs, emoji and right-to-left letters', () => {
  expect(cleanText('a\tb\r\nc 👩‍👩‍👧 שלום')).toBe('a\tb\nc 👩‍👩‍👧 שלום');
});

it('leaves nothing that a terminal would act upon', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(cleanText(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
      expect(cleanLine(text)).not.toContain('\n');
      expect(safeJson(text)).not.toMatch(/\p{Cc}/u);
    }),
  );
});

it('cuts a line between characters and marks the cut', () => {
  expect(cleanLine('👍👍👍👍', 5)).toBe('👍👍…');
  expect(cleanLine('abc', 3)).toBe('abc');
  expect(cleanLine('  a \n b ', 10)).toBe('a b');
});

it('keeps the lines that say something', () => {
  expect(cleanLines(' a\t b\r\n\n \u0007- c\u2028d ')).toEqual(['a b', '- c', 'd']);
  expect(cleanLines(' \n ')).toEqual([]);
});

it('writes JSON that means the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(safeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
