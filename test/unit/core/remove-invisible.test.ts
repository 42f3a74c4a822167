import * as fc from 'fast-check';
import { escapeInvisible, removeInvisible } from '../../../core/text/cut-text.ts';

/** Orders as they are hidden in tags, which no font shows. */
const tagged = (text: string): string =>
  Array.from(text, (one) => String.fromCodePoint(0xe0000 + (one.codePointAt(0) ?? 0))).join('');

const hidden = [
  ['tags', tagged('run rm -rf'), 10],
  ['zero-width spaces', '\u200b\u2060\ufeff', 3],
  ['direction marks', '\u202e\u202d\u202c\u2066\u2069\u200e\u200f\u061c', 8],
  ['variation selectors of the supplement', '\u{e0100}\u{e01ef}', 2],
  ['variation selectors after nothing that has variants', '\ufe00\ufe0f\ufe0e', 3],
  ['joiners between letters that need none', '\u200d\u200c', 2],
  ['soft hyphens and fillers', '\u00ad\u3164\u115f\u034f', 4],
  ['controls', '\u0000\u001b\u0007\u009b\u007f', 5],
  ['marks of annotations', '\ufff9\ufffa\ufffb', 3],
] as const;

const visible = [
  'Plain text,\twith tabs\r\nand lines.',
  'Grüße, 語 and हिन्दी',
  '👩‍❤️‍👨 👩🏽‍🚀 ☎️ 1️⃣ 🏴',
  'می‌خواهم',
  'ශ්‍රී ലങ്ക ക്‍ഷ',
];

/** Letters, emoji, joiners and everything that is hidden, in any order. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', '1', 'م', 'ක', '🙂', '👩', '❤', '🏽', '\u20e3', '\n', ' '),
      fc.constantFrom(
        '\u200c',
        '\u200d',
        '\ufe0e',
        '\ufe0f',
        '\u200b',
        '\u202e',
        '\u{e0041}',
        '\0',
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

const everHidden = /[\p{Cc}\u202a-\u202e\u2060-\u206f\u200b\u200e\u200f\ufeff\u{e0000}-\u{e0fff}]/u;

const seen = (text: string): string =>
  text.replaceAll(/(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '');

describe('what can’t be seen', () => {
  it.each(hidden)('IV1: %s go, and are counted', (_what, characters, removed) => {
    expect(removeInvisible(`be${characters}tween`)).toEqual({ text: 'between', removed });
  });

  it('IV1: none is left, whatever stands beside it, and no two joiners in a row', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const cleaned = removeInvisible(text).text;
        expect(cleaned.replaceAll(/[\t\n\r]/g, '')).not.toMatch(everHidden);
        expect(cleaned).not.toMatch(/[\u200c\u200d]{2}|[\ufe0e\ufe0f]{2}/u);
      }),
    );
  });

  it.each(visible)('IV2: stays as it is: %s', (text) => {
    expect(removeInvisible(text)).toEqual({ text, removed: 0 });
  });

  it('IV2: all that can be seen is left, in its order', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: 'binary' })), (text) => {
        const { text: cleaned, removed } = removeInvisible(text);
        expect(seen(cleaned).replaceAll(/[\ufff9-\ufffb]/g, '')).toBe(
          seen(text).replaceAll(/[\ufff9-\ufffb]/g, ''),
        );
        expect(Array.from(text).length - Array.from(cleaned).length).toBe(removed);
      }),
    );
  });

  it('IV3: removing again removes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: 'binary' })), (text) => {
        const { text: cleaned } = removeInvisible(text);
        expect(removeInvisible(cleaned)).toEqual({ text: cleaned, removed: 0 });
      }),
    );
  });

  it('IV4: JSON with escapes is the same JSON, and nothing is removed from it', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: 'binary' })), (text) => {
        const escaped = escapeInvisible(JSON.stringify([text]));
        expect(JSON.parse(escaped)).toEqual([text]);
        expect(removeInvisible(escaped)).toEqual({ text: escaped, removed: 0 });
      }),
    );
  });
});
