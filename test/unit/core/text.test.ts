import * as fc from 'fast-check';
import {
  cleanLine,
  cutEnd,
  cutStart,
  cutText,
  normaliseText,
  titleOf,
} from '../../../core/text/cut-text.ts';
import { hashText } from '../../../core/text/hash-text.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { property } from './builders.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe('text', () => {
  it('H1: the hash of a text never changes: hashes are carried over versions', () => {
    expect(hashText('')).toBe('1aee8d83488bdcb8');
    expect(hashText('planwave')).toBe('791d50ba35a18fda');
  });

  it('H1: equal texts have equal hashes, others have others', () => {
    const seen = new Map<string, string>();
    for (let i = 0; i < 50_000; i += 1) seen.set(hashText(`q${i}|text`), String(i));
    expect(seen.size).toBe(50_000);
  });

  it('TX1: a cut text keeps the limit and splits no surrogate pair', () => {
    fc.assert(
      fc.property(anyText, fc.nat(70), (text, max) => {
        const cut = cutText(text, max);
        const hasHalf = /\p{Surrogate}/u;
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut === text).toBe(text.length <= max);
        expect(hasHalf.test(cut) && !hasHalf.test(text)).toBe(false);
      }),
      property,
    );
    expect(cutText('ab😀cd', 4)).toBe('ab…');
    expect(cutText('ab😀cd', 5)).toBe('ab😀…');
  });

  it.each([
    ['one two', 7, 'one two'],
    ['one two three', 9, '…three'],
    ['one two three', 3, '…'],
    ['one two', 0, ''],
    ['a😀😀 b', 4, '…b'],
  ])('TX1: the end of %j in %i characters begins with a word: %j', (text, max, end) => {
    expect(cutStart(text, max)).toBe(end);
    expect(cutStart(text, max).length).toBeLessThanOrEqual(max);
  });

  it.each([
    ['one two', 7, 'one two'],
    ['one two three', 9, 'one two …'],
    ['onetwothree', 9, '…'],
    ['失敗しました。再試行', 7, '失敗しました…'],
    ['one two', 0, ''],
  ])('TX1: the beginning of %j in %i characters ends with a word: %j', (text, max, beginning) => {
    expect(cutEnd(text, max)).toBe(beginning);
  });

  it('TX2: case, white space and punctuation do not count, everything else does', () => {
    expect(normaliseText('Which  REGION?\n')).toBe(normaliseText('which region'));
    expect(normaliseText('"Which" – region…')).toBe(normaliseText('which region'));
    expect(normaliseText('x > 5')).not.toBe(normaliseText('x < 5'));
    expect(normaliseText('which regions')).not.toBe(normaliseText('which region'));
    expect(normaliseText('???')).not.toBe(normaliseText('!!!'));
  });

  it('CL1: a clean line holds nothing that breaks, hides or reorders it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = cleanLine(text, 40);
        expect(line).not.toMatch(/[\p{Cc}\p{Surrogate}\u202a-\u202e\u2066-\u2069\u200b]/u);
        expect(line.length).toBeLessThanOrEqual(40);
        expect(line).toBe(line.trim());
      }),
      property,
    );
    expect(cleanLine('a\r\n\tb\u202ec\u0000 👩‍👧', 40)).toBe('a bc 👩‍👧');
  });

  it('a title is the first line that is not blank', () => {
    expect(titleOf('\n  \r\n  Compare prices \nand more')).toBe('Compare prices');
    expect(titleOf('x'.repeat(200))).toHaveLength(120);
    expect(titleOf('')).toBe('');
  });

  it('a long list of names says how many are not shown', () => {
    expect(listNames([])).toBe('none');
    expect(listNames(['a', 'b'])).toBe('"a", "b"');
    expect(listNames(['a', 'b', 'c'], 1)).toBe('"a" and 2 more');
  });
});
