import { assert, property, string } from 'fast-check';
import { listTerms } from '../../../core/text/hash-text.ts';

const anyText = string({ unit: 'binary', maxLength: 300 });

it('TE1: a term is letters, digits and marks alone, whatever the text', () => {
  assert(
    property(anyText, (text) => {
      for (const term of listTerms(text)) {
        expect(term).toMatch(/^[\p{L}\p{N}\p{M}]{1,64}$/u);
        expect(term).toMatch(/[\p{L}\p{N}]/u);
        expect(term.length).toBeLessThanOrEqual(64);
      }
    }),
    { numRuns: 500 },
  );
  expect(listTerms(`"a" OR 'b'); DROP -- *^{c}:\0d`)).toEqual(['a', 'or', 'b', 'drop', 'c', 'd']);
  expect(listTerms('x'.repeat(500))).toEqual(['x'.repeat(32)]);
});

it('TE2: case, accents and width make no difference', () => {
  expect(listTerms('Café ÉTÉ ２０２６ ﬁn Ёлка')).toEqual(['cafe', 'ete', '2026', 'fin', 'елка']);
  assert(
    property(anyText, (text) => {
      expect(listTerms(text.normalize('NFD'))).toEqual(listTerms(text));
    }),
  );
});

it('TE3: words of scripts without spaces are found within a sentence', () => {
  expect(listTerms('東京タワー2026年 tea')).toEqual([
    '東京',
    '京タ',
    'タワ',
    'ワー',
    '2026',
    '年',
    'tea',
  ]);
  for (const [sentence, word] of [
    ['日本の首都は東京都です', '東京都'],
    ['ราคาชาเขียวในกรุงเทพ', 'กรุงเทพ'],
    ['តម្លៃតែបៃតង', 'តែបៃតង'],
  ] as const) {
    expect(listTerms(sentence)).toEqual(expect.arrayContaining(listTerms(word)));
  }
  // In scripts with spaces a word is whole, its vowels too.
  expect(listTerms('हिन्दी में चाय')).toEqual(['हिन्दी', 'में', 'चाय']);
});

it('TE4: each term once, in the order of the text', () => {
  expect(listTerms('tea for two, TEA for three')).toEqual(['tea', 'for', 'two', 'three']);
  expect(listTerms('?! … ́')).toEqual([]);
});
