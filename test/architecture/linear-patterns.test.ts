import { runInNewContext } from 'node:vm';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { planted } from '../support/planted.ts';
import { createPrng } from '../support/prng.ts';
import type { Prng } from '../support/prng.ts';
import {
  explainGrowth,
  listBuilders,
  listBuilt,
  listLiterals,
  listRecommended,
  repeatsLong,
  writePills,
} from './patterns.ts';
import type { Pattern } from './patterns.ts';

/** What these build comes from a schema of the engine, never from a text. */
const buildFromSchemas = /^rehearsal\/generator\//;

let all: readonly Pattern[];
beforeAll(async () => {
  const built: Pattern[] = [];
  for (const place of listBuilders().filter((one) => !buildFromSchemas.test(one))) {
    built.push(...(await listBuilt(place)));
  }
  all = [...listLiterals(), ...built, ...listRecommended()];
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
  const hangs = (text: string): boolean =>
    tryPill('', text, () => expression.test(text), 500).length > 0;
  expect(writePills(hungEveryWorker, 200, createPrng(1)).some(hangs)).toBe(true);
});

/** Characters. Time that grew with the square of it would be minutes. */
const megabyte = 1_000_000;

/** Milliseconds: a bound for what would not end, hundreds of times more than it takes. */
const endsWithin = 20_000;

/** Node can interrupt a regular expression only in a script with a time limit. */
function interruptible(work: () => void, timeout: number): void {
  runInNewContext('work()', { work }, { timeout });
}

/** The fault in one line, or none. */
function tryPill(
  what: string,
  text: string,
  read: (text: string) => unknown,
  timeoutMs = endsWithin,
): string[] {
  try {
    interruptible(() => void read(text), timeoutMs);
    return [];
  } catch (error) {
    const shown = JSON.stringify(`${text.slice(0, 120)}…${text.slice(-4)}`);
    return [`${what} on ${shown}: ${String(error)}`];
  }
}

it('finding T1: every pattern reads 1 MB of what it has most work with', () => {
  const faults = all.filter(repeatsLong).flatMap((pattern) => {
    const expression = new RegExp(pattern.source, pattern.flags);
    const read = (text: string): unknown => {
      expression.lastIndex = 0;
      return expression.global ? text.replace(expression, '') : expression.test(text);
    };
    const pills = writePills(pattern, megabyte, createPrng(20_261_122));
    return pills.flatMap((text) => tryPill(`${pattern.place}: ${String(expression)}`, text, read));
  });
  expect(faults).toEqual([]);
}, 600_000);

const redactor = createRedactor({ secrets: ['a secret of several words'] });
const redact = (text: string): unknown => [
  redactor.redactText(text, 'test'),
  redactor.findOpen(text),
];

const pillsOfRedactor = (length: number, random: Prng): string[] =>
  all
    .filter(({ place }) => place === 'secretlint' || place.startsWith('redaction/'))
    .flatMap((pattern) => writePills(pattern, length, random));

it('finding T1: the redactor reads 1 MB of whatever its patterns have most work with', () => {
  const pills = pillsOfRedactor(megabyte, createPrng(20_261_123));
  expect(pills.flatMap((text) => tryPill('the redactor', text, redact))).toEqual([]);
}, 600_000);

it('finding T1: the redactor reads 1 MB of their parts and of secrets in any mixture, also as JSON', () => {
  const random = createPrng(20_261_124);
  const parts = [
    ...pillsOfRedactor(1, random),
    ...Object.values(planted),
    ...Array.from(' \n\t"\\/:,[]{}=-!\u0000é\ud800'),
    '-----BEGIN PRIVATE KEY-----',
    '[redacted:npm]',
  ];
  const mixtures = Array.from({ length: 100 }, (_, index) => {
    const unit = Array.from({ length: random.integer(1, 4) }, () => random.pick(parts)).join('');
    const text = `${random.pick(parts)}${unit.repeat(Math.ceil(megabyte / unit.length))}!`;
    return [text, JSON.stringify(text), JSON.stringify({ a: [JSON.stringify({ text })] })][
      index % 3
    ];
  });
  const faults = mixtures.flatMap((text = '') => tryPill('the redactor', text, redact));
  expect(faults).toEqual([]);
}, 600_000);

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
    expect(tryPill('the redactor', text, redact)).toEqual([]);
  },
);
