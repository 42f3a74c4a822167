import type { Reply } from '../../../rehearsal/script.ts';
import { blocked, question, unmet } from '../scripted-work.ts';
import { delivers, edits, notes, runs, runsTests, uses, writes } from './conversation.ts';
import type { Heard } from './conversation.ts';
import { shopFiles, splitExperiment, writeExperiment, written } from './repository.ts';

/** Questions of the doers, and what each is answered. */
export const asked = {
  /** The note of a doer that only the user can decide. */
  currency: { text: 'In which currency are the totals?', answer: 'Euro cents' },
  /** A technical question, which the solution architect decides. */
  library: {
    text: 'Is CSV read by a library or by code of our own?',
    answer: 'Code of our own, because the shop has no dependencies.',
  },
  /** One question in three wordings: the third time it is a loop. */
  orders: [
    { text: 'Which orders are to be printed?', answer: 'Those that matter' },
    { text: 'To be printed are which orders?', answer: 'The important ones' },
    { text: 'Printed: which orders?', answer: null },
  ],
} as const;

type Play = (heard: Heard) => Reply;

const passed = { kind: 'tool', value: 'run_command' } as const;

const last = (plays: readonly Play[], heard: Heard): Reply => {
  const play = plays[Math.min(heard.turn, plays.length - 1)];
  if (play === undefined) throw new Error('A doer has nothing to say.');
  return play(heard);
};

const asks = (text: string, criterion: string, over = {}): Reply => ({
  json: blocked([question(text, over)], criterion),
});

/** Returns the answer of the user, wherever the prompt of this attempt has it. */
function currencyIn({ text }: Heard): string {
  return text.includes(asked.currency.answer) ? asked.currency.answer : 'nobody knows what';
}

const trySplit: readonly Play[] = [
  () => uses(runs(...splitExperiment)),
  () =>
    delivers('try-split', 'The command printed "4 cells instead of 3" and ended with 1.', {
      kind: 'tool',
      value: 'run_command',
    }),
];

const tryMany: readonly Play[] = [
  () => uses(runs(...writeExperiment)),
  () =>
    delivers('try-many', 'The command printed "100000 orders written" and ended with 0.', passed),
];

const defineFields: readonly Play[] = [
  () =>
    uses(
      notes({
        action: 'resolve',
        category: 'implementation_detail',
        description: 'The order of the columns is that of the fields.',
        context: 'Naming the fields',
        text: 'src/orders.js lists id, customer and total in this order.',
      }),
      edits('src/orders.js', 'export const orders', `${written.fields}\nexport const orders`),
    ),
  () => uses(runsTests),
  () =>
    delivers(
      'define-fields',
      'src/orders.js exports fields; the tests pass.',
      { kind: 'file', value: 'src/orders.js' },
      ['src/orders.js'],
    ),
];

const exportFiles = ['src/export.js', 'test/export.test.js'];

/** Asks the user by a note, and forgets the test: its first output fails its verification. */
const writeExport: readonly Play[] = [
  () =>
    uses(
      notes({
        action: 'escalate',
        category: 'requirements',
        description: asked.currency.text,
        context: 'Writing the export',
        text: 'A total without its currency can not be read.',
      }),
    ),
  () => ({ json: unmet('blocked', 'Waits for the currency.', 'write-export') }),
  (heard) => uses(writes('src/export.js', written.export(currencyIn(heard)))),
  () => uses(runsTests),
  () =>
    delivers('write-export', 'src/export.js exports toCsv; the tests pass.', passed, [
      'src/export.js',
    ]),
];

/** The attempt after the failed verification, by an agent that begins anew. */
const mendExport: readonly Play[] = [
  (heard) =>
    uses(
      writes('src/export.js', written.export(currencyIn(heard))),
      writes('test/export.test.js', written.exportTest),
    ),
  () => uses(runsTests),
  () => delivers('write-export', 'toCsv quotes a comma, which a test shows.', passed, exportFiles),
];

const writeImport: readonly Play[] = [
  () => asks(asked.library.text, 'write-import'),
  ({ text }) =>
    uses(
      writes(
        'src/import.js',
        text.includes('character by character') ? written.reading : written.splitting,
      ),
      writes('test/import.test.js', written.importTest),
    ),
  () => uses(runsTests),
  () =>
    delivers('write-import', 'What was exported is read again, which a test shows.', passed, [
      'src/import.js',
      'test/import.test.js',
    ]),
];

/** Asks the same in other words until it is refused. */
const writeCommand: readonly Play[] = [
  ...asked.orders.map(
    ({ text }) =>
      () =>
        asks(text, 'write-command'),
  ),
  () => ({ json: unmet('failed', 'Nobody said which orders.', 'write-command') }),
];

/** The attempt after the plan was adapted. */
const writeChangedCommand: readonly Play[] = [
  () => uses(writes('src/export-orders.js', written.command)),
  () => uses(runs('node', 'src/export-orders.js')),
  () =>
    delivers('write-command', 'The program prints three lines.', passed, ['src/export-orders.js']),
];

const countLines: readonly Play[] = [
  () => uses(runs('node', 'src/export-orders.js')),
  () => delivers('count-lines', 'The program printed three lines.', passed),
];

const guideIsThere = (): Reply =>
  delivers(
    'write-guide',
    'README.md has a section "Export".',
    { kind: 'file', value: 'README.md' },
    ['README.md'],
  );

/** The guide lacks its example, however often it is sent back. */
const writeGuide: readonly Play[] = [
  () =>
    uses(
      edits('README.md', 'Orders of a small shop.\n', `Orders of a small shop.\n${written.guide}`),
    ),
  guideIsThere,
];

/** The attempt with the guidance of the user. */
const mendGuide: readonly Play[] = [
  () =>
    uses(
      edits(
        'README.md',
        'The orders are exported as CSV.\n',
        `The orders are exported as CSV.\n${written.example}`,
      ),
    ),
  guideIsThere,
];

const rereadGuide: readonly Play[] = [
  () => uses({ name: 'read_file', input: { path: 'README.md' } }),
  () =>
    delivers('write-guide', 'README.md tells how orders are exported.', {
      kind: 'unchanged',
      value: Object.keys(shopFiles)[0] ?? '',
    }),
];

const decide: readonly Play[] = [
  () =>
    uses(
      notes({
        action: 'resolve',
        category: 'documentation',
        description: 'The shop has no dependencies.',
        context: 'Deciding how CSV is read',
        text: 'package.json names none.',
      }),
    ),
  ({ text }) => {
    const criterion = /decided-decision_w\d+n\d+/.exec(text)?.[0] ?? '';
    return delivers(criterion, asked.library.answer, {
      kind: 'quote',
      value: asked.library.answer,
    });
  },
];

const plays: Readonly<Record<string, (heard: Heard) => readonly Play[]>> = {
  try_split: () => trySplit,
  try_many: () => tryMany,
  define_fields: () => defineFields,
  write_export: ({ text }) => (text.includes('<failed_output>') ? mendExport : writeExport),
  write_import: () => writeImport,
  write_command: ({ text }) =>
    text.includes('All orders are printed.') ? writeChangedCommand : writeCommand,
  count_lines: () => countLines,
  write_guide({ text }) {
    if (text.includes('<user_guidance>')) return mendGuide;
    return text.includes('<failed_output>') ? rereadGuide : writeGuide;
  },
  decision: () => decide,
};

/** The work of the doers and of the architect, by the delegation: `write_command-2_1727539200` does `write_command`. */
export function replyToWork(delegation_id: string, heard: Heard): Reply | null {
  const task = delegation_id.replace(/(?:_w\d+n\d+)?(?:-\d+)?_\d{10}$/, '');
  const chosen = plays[task]?.(heard);
  return chosen === undefined ? null : last(chosen, heard);
}
