import { createRedactor } from '../../../redaction/create-redactor.ts';
import { planted } from '../../support/planted.ts';

/** Measures redaction in milliseconds for texts of 1 KB, 100 KB and 5 MB. Run by hand: no test asserts a time. */
const redactor = createRedactor({ secrets: [planted.own, `${planted.own}-2`] });

const repeat = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length));

const fields = (text: string, length: number): string =>
  JSON.stringify(Array.from({ length: Math.ceil(length / 60) }, (_, id) => ({ id, text, n: 1 })));

const texts: Readonly<Record<string, (length: number) => string>> = {
  prose: (length) => repeat('The quick brown fox jumps over the lazy dog. ', length),
  'one line': (length) => repeat('a', length),
  'a transcript': (length) =>
    JSON.stringify({ messages: [{ text: repeat('Some **Markdown** text.\n', length) }] }),
  'JSON of small fields': (length) => fields('a value of some length', length),
  secrets: (length) => repeat(`${planted.github} `, length),
  'secrets in JSON': (length) => fields(planted.github, length),
  'nearly SendGrid': (length) => repeat(`SG.a.${'b'.repeat(300)} `, length),
};

for (const [name, make] of Object.entries(texts)) {
  const times = [1_000, 100_000, 5_000_000].map((length) => {
    const text = make(length);
    const rounds = Math.max(1, Math.floor(200_000 / length));
    redactor.redactText(text, 'bench');
    const startedAt = performance.now();
    for (let round = 0; round < rounds; round += 1) redactor.redactText(text, 'bench');
    return ((performance.now() - startedAt) / rounds).toFixed(3).padStart(10);
  });
  process.stdout.write(`${name.padEnd(22)}${times.join('')}\n`);
}
