/** A small shop whose tests pass: the repository that the run of all of seed 003 works on. */
export const shopFiles: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': '# Shop\n\nOrders of a small shop.\n',
  'src/orders.js': `export const orders = [
  { id: 1, customer: 'Ada', total: 1250 },
  { id: 2, customer: 'Grace, Hopper & Co', total: 980 },
];
`,
  'test/orders.test.js': `import { equal } from 'node:assert';
import { test } from 'node:test';
import { orders } from '../src/orders.js';

test('there are orders', () => equal(orders.length, 2));
`,
};

/** Texts that the doers write into it. */
export const written = {
  fields: "export const fields = ['id', 'customer', 'total'];\n",
  export: (heading: string): string => `import { fields } from './orders.js';

const quote = (value) => (/[",\\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value);

/** Totals are in ${heading}. */
export const toCsv = (orders) =>
  [fields, ...orders.map((order) => fields.map((field) => order[field]))]
    .map((row) => row.map((value) => quote(String(value))).join(',') + '\\n')
    .join('');
`,
  exportTest: `import { equal } from 'node:assert';
import { test } from 'node:test';
import { toCsv } from '../src/export.js';
import { orders } from '../src/orders.js';

test('a comma is quoted', () => equal(toCsv(orders).split('\\n')[2], '2,"Grace, Hopper & Co",980'));
`,
  splitting: `export const fromCsv = (text) => text.trim().split('\\n').slice(1).map((line) => line.split(','));
`,
  reading: `import { fields } from './orders.js';

const cells = (line) => {
  const row = [''];
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === ',' && !quoted) row.push('');
    else row[row.length - 1] += character;
  }
  return row;
};

export const fromCsv = (text) =>
  text
    .trim()
    .split('\\n')
    .slice(1)
    .map((line) => Object.fromEntries(cells(line).map((value, at) => [fields[at], value])));
`,
  importTest: `import { deepEqual } from 'node:assert';
import { test } from 'node:test';
import { toCsv } from '../src/export.js';
import { fromCsv } from '../src/import.js';
import { orders } from '../src/orders.js';

test('what was exported is read again', () =>
  deepEqual(fromCsv(toCsv(orders)).map(({ customer }) => customer), orders.map(({ customer }) => customer)));
`,
  command: `import { toCsv } from './export.js';
import { orders } from './orders.js';

process.stdout.write(toCsv(orders));
`,
  guide: '\n## Export\n\nThe orders are exported as CSV.\n',
  example: '\n```\nnode src/export-orders.js\n```\n',
} as const;

/** Experiment that shows whether splitting at each comma reads an order: it ends with exit code 1. */
export const splitExperiment = [
  'node',
  '--eval',
  `const cells = '2,"Grace, Hopper & Co",980'.split(','); console.log(cells.length + ' cells instead of 3'); process.exit(cells.length === 3 ? 0 : 1)`,
] as const;

/** Experiment that shows how long it takes to write 100,000 orders: it ends with exit code 0. */
export const writeExperiment = [
  'node',
  '--eval',
  `const text = Array.from({ length: 100000 }, (_, id) => id + ',Ada,1').join('\\n'); console.log(text.split('\\n').length + ' orders written')`,
] as const;
