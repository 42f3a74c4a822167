import { listPatterns } from '../architecture/patterns.ts';
import type { Pattern } from '../architecture/patterns.ts';
import { readPills, redactAll, writePillsOfRedactor } from '../architecture/read-pills.ts';
import { planted } from '../support/planted.ts';
import { createPrng } from '../support/prng.ts';

let all: readonly Pattern[];
beforeAll(async () => {
  all = await listPatterns();
});

/** The time is a bound for what would not end, hundreds of times more than it takes. */
const size = { length: 1_000_000, timeoutMs: 20_000 };

it('finding T1: every pattern reads 1 MB of what it has most work with', () => {
  expect(readPills(all, size, createPrng(20_261_122))).toEqual([]);
});

it('finding T1: the redactor reads 1 MB of whatever its patterns have most work with', () => {
  const pills = writePillsOfRedactor(all, size.length, createPrng(20_261_123));
  expect(redactAll(pills, size.timeoutMs)).toEqual([]);
});

it('finding T1: the redactor reads 1 MB of their parts and of secrets in any mixture, also as JSON', () => {
  const random = createPrng(20_261_124);
  const parts = [
    ...writePillsOfRedactor(all, 1, random),
    ...Object.values(planted),
    ...Array.from(' \n\t"\\/:,[]{}=-!\u0000é\ud800'),
    '-----BEGIN PRIVATE KEY-----',
    '[redacted:npm]',
  ];
  const mixtures = Array.from({ length: 100 }, (_, index) => {
    const unit = Array.from({ length: random.integer(1, 4) }, () => random.pick(parts)).join('');
    const text = `${random.pick(parts)}${unit.repeat(Math.ceil(size.length / unit.length))}!`;
    const wrap = [
      () => text,
      () => JSON.stringify(text),
      () => JSON.stringify({ a: [JSON.stringify({ text })] }),
    ][index % 3];
    return wrap?.() ?? text;
  });
  expect(redactAll(mixtures, size.timeoutMs)).toEqual([]);
});
