import { createPrng } from '../support/prng.ts';
import { explainGrowth, listPatterns, writePills } from './patterns.ts';
import type { Pattern } from './patterns.ts';
import { readPills, redactAll, tryReading, writePillsOfRedactor } from './read-pills.ts';

let all: readonly Pattern[];
beforeAll(async () => {
  all = await listPatterns();
});

it('finding T1: the patterns of the source, those built by it and those of secretlint are looked at', () => {
  const countOf = (place: string): number => all.filter((one) => one.place.includes(place)).length;
  expect(countOf('secretlint')).toBeGreaterThanOrEqual(20);
  expect(countOf('core/guards/injection-patterns.ts')).toBeGreaterThanOrEqual(5);
  expect(all.length).toBeGreaterThanOrEqual(200);
});

it('finding T1: no pattern needs more than linear time, whatever text it reads', () => {
  const faults = all.flatMap((pattern) => {
    const growth = explainGrowth(pattern);
    return growth === null
      ? []
      : [`${pattern.place}: /${pattern.source}/${pattern.flags} (${growth})`];
  });
  // Cure: let no two repetitions take the same characters, and let a repetition begin only where it can't have begun
  // before, as in /(?<!-)-+$/.
  expect(faults).toEqual([]);
});

/** As it stood in the redactor: each ` A: ` is a header, or a piece of the value of the one before. */
const hungEveryWorker: Pattern = {
  source: String.raw`PRIVATE KEY-----(?:(?:\s|\\[nr])+[A-Za-z-]{1,20}: [^\n\\]{0,200})*[A-Za-z0-9+/=]{16}`,
  flags: 'g',
  place: 'redaction',
};

it('finding T1: both checks find the pattern that hung every worker', () => {
  expect(explainGrowth(hungEveryWorker)).toContain('exponential');
  expect(explainGrowth({ source: '-+$', flags: '', place: '' })).toBe('Move');
  const expression = new RegExp(hungEveryWorker.source, hungEveryWorker.flags);
  const read = (text: string): unknown => expression.test(text);
  const hangs = (text: string): boolean =>
    tryReading({ what: '', text, read, timeoutMs: 500 }).length > 0;
  expect(writePills(hungEveryWorker, 200, createPrng(1)).some(hangs)).toBe(true);
});

/** `test/slow/long-texts.test.ts` lets them read ten times as much. */
const size = { length: 100_000, timeoutMs: 2_000 };

it('finding T1: every pattern reads 100 KB of what it has most work with', () => {
  expect(readPills(all, size, createPrng(20_261_122))).toEqual([]);
});

it('finding T1: the redactor reads 100 KB of whatever its patterns have most work with', () => {
  const pills = writePillsOfRedactor(all, size.length, createPrng(20_261_123));
  expect(redactAll(pills, size.timeoutMs)).toEqual([]);
});

it.each([
  `-----BEGIN PRIVATE KEY-----${' A: '.repeat(26)}!`,
  `-----BEGIN PRIVATE KEY-----${' A: '.repeat(250_000)}!`,
  `-----BEGIN PRIVATE KEY-----${' A: '.repeat(250_000)}\n!`,
  `-----BEGIN PRIVATE KEY-----${'\nA: b'.repeat(200_000)}\n!`,
  `-----BEGIN PRIVATE KEY-----\n${' \n'.repeat(500_000)}!`,
  '-----BEGIN PRIVATE KEY-----\nA: b'.repeat(31_250),
  '-----BEGIN PRIVATE KEY----- A: '.repeat(32_000),
  String.raw`-----BEGIN PRIVATE KEY-----\nA: b\n`.repeat(28_000),
])(
  'finding T1: the redactor reads text %# of fields that may or may not belong to a key',
  (text) => {
    expect(redactAll([text], 20_000)).toEqual([]);
  },
);
