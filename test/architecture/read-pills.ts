import { createContext, Script } from 'node:vm';
import { createRedactor } from '../../redaction/create-redactor.ts';
import type { Prng } from '../support/prng.ts';
import { repeatsLong, writePills } from './patterns.ts';
import type { Pattern } from './patterns.ts';

const context = createContext({ work: () => {} });
const script = new Script('work()');

/** Node can interrupt a regular expression only in a script with a time limit. */
function interruptible(work: () => void, timeout: number): void {
  context['work'] = work;
  script.runInContext(context, { timeout });
}

/** A text that is read, by which function, and how long that may take at most, in milliseconds. */
export interface Reading {
  readonly what: string;
  readonly text: string;
  readonly read: (text: string) => unknown;
  readonly timeoutMs: number;
}

/** @returns the fault in one line, or none. */
export function tryReading({ what, text, read, timeoutMs }: Reading): string[] {
  try {
    interruptible(() => void read(text), timeoutMs);
    return [];
  } catch (error) {
    const shown = JSON.stringify(`${text.slice(0, 120)}…${text.slice(-4)}`);
    return [`${what} on ${shown}: ${String(error)}`];
  }
}

/** The length of a text and the time allowed to read it. Time that grew with the square of the length would be far above it. */
export interface Size {
  readonly length: number;
  readonly timeoutMs: number;
}

/** Lets each pattern read what it has most work with. Returns the faults. */
export function readPills(
  patterns: readonly Pattern[],
  { length, timeoutMs }: Size,
  random: Prng,
): string[] {
  return patterns.filter(repeatsLong).flatMap((pattern) => {
    const expression = new RegExp(pattern.source, pattern.flags);
    const read = (text: string): unknown => {
      expression.lastIndex = 0;
      return expression.global ? text.replace(expression, '') : expression.test(text);
    };
    const what = `${pattern.place}: ${String(expression)}`;
    const pills = writePills(pattern, length, random);
    return pills.flatMap((text) => tryReading({ what, text, read, timeoutMs }));
  });
}

const redactor = createRedactor({ secrets: ['a secret of several words'] });

const redact = (text: string): unknown => [
  redactor.redactText(text, 'test'),
  redactor.findOpen(text),
];

/** Lets the redactor read texts. Returns the faults. */
export function redactAll(texts: readonly string[], timeoutMs: number): string[] {
  return texts.flatMap((text) =>
    tryReading({ what: 'the redactor', text, read: redact, timeoutMs }),
  );
}

/** Writes what the patterns of the redactor have most work with. */
export function writePillsOfRedactor(
  patterns: readonly Pattern[],
  length: number,
  random: Prng,
): string[] {
  const pills = patterns
    .filter(({ place }) => place === 'secretlint' || place.startsWith('redaction/'))
    .flatMap((pattern) => writePills(pattern, length, random));
  return [...new Set(pills)];
}
