import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBenchOptions, benchUsage } from '../../bench/bench-options.ts';
import type { Figure, FigureRow } from '../../bench/figure.ts';
import { renderMarkdown, renderReport, replaceFigures } from '../../bench/report.ts';
import type { BenchReport } from '../../bench/report.ts';
import { summarise } from '../../bench/statistics.ts';
import { root } from '../../../scripts/bootstrap/hand-over.mjs';

const row: FigureRow = {
  figure: 'a wave',
  target: '≤ 1.05 ×',
  measured: '10,300 ms',
  floor: '10,000 ms',
  reached: true,
  notes: 'It was quiet.',
  numbers: {},
};
const report: BenchReport = {
  measured_at: '2026-01-02T03:04:05.000Z',
  trial: false,
  machine: {
    planwave: '0.1.0',
    temporal_sdk: '1.24.0',
    temporal_cli: '1.9.1',
    node: 'v20.19.0',
    system: 'linux x64',
    processor: 'a processor',
    cores: 2,
    memory_bytes: 8e9,
    fsync_ms: summarise([0.5, 0.75, 2]),
    load: 0.1,
  },
  figures: [row, { ...row, figure: 'another', target: '', reached: null, notes: '' }],
  failed: ['cold-start'],
};

const figures: Figure[] = ['wave-0', 'turns'].map((name) => {
  return { name, about: `about ${name}`, measure: async () => [] };
});

describe('options', () => {
  it('by default everything is measured and written', () => {
    expect(readBenchOptions([], figures)).toMatchObject({ figures, write: true, json: false });
  });

  it.each([[['--only', 'turns']], [['--trial']], [['--no-write']]])(
    '%j leaves the page as it is',
    (args) => {
      expect(readBenchOptions(args, figures).write).toBe(false);
    },
  );

  it('--only takes names in any order and measures in the order of the report', () => {
    expect(readBenchOptions(['--only', 'turns, wave-0'], figures).figures).toEqual(figures);
  });

  it.each([
    [['--only', 'turn'], 'There is no figure "turn". Figures: wave-0, turns'],
    [['--rounds', '0'], '--rounds 0 is no whole number from 1'],
    [['--fast'], '--help'],
    [['--peers', 'nowhere'], 'There is no folder nowhere. Try: --peers'],
    [['--peers', '.', '--postgres', 'here'], '--postgres here is no address. Try: --postgres'],
  ])('%j is refused with what would do', (args, message) => {
    expect(() => readBenchOptions(args, figures)).toThrow(message);
  });

  it('without --peers there is nobody but the floor to compare with', () => {
    expect(readBenchOptions([], figures).peers).toBeNull();
    expect(readBenchOptions(['--peers', '.'], figures).peers).toEqual({
      folder: process.cwd(),
      postgresUrl: expect.stringContaining('postgresql://'),
    });
  });

  it('the help names every figure', () => {
    expect(benchUsage(figures)).toContain('wave-0   about wave-0');
  });
});

it('the table says what was reached, and what could not be measured', () => {
  const text = renderReport(report);
  expect(text).toMatch(/^yes +a wave +≤ 1\.05 × +10,300 ms +10,000 ms$/m);
  expect(text).toContain('1 KB on disk with fdatasync: 0.75 ms (0.5–2)');
  expect(text).toContain('Not measured: cold-start.');
  expect(text).not.toContain('trial');
  expect(renderReport({ ...report, trial: true })).toContain('none of this is a figure');
});

it('the page has the figures, the machine and the notes', () => {
  const text = renderMarkdown(report);
  expect(text).toContain('Measured on 2026-01-02.');
  expect(text).toContain('| yes     | a wave  | ≤ 1.05 × | 10,300 ms | 10,000 ms |');
  expect(text).toContain('- a wave: It was quiet.');
});

it('new figures take the place of the old ones, and the rest of the page stays', () => {
  const page = readFileSync(join(root, 'docs', 'benchmark.md'), 'utf8');
  const first = replaceFigures(page, 'FIRST');
  const second = replaceFigures(first, 'SECOND');
  expect(first).toContain('FIRST');
  expect(second).not.toContain('FIRST');
  expect(second.replace('SECOND', 'FIRST')).toBe(first);
  expect(second.slice(0, 20)).toBe(page.slice(0, 20));
  expect(second.slice(-20)).toBe(page.slice(-20));
});

it('a page without its markers is not touched', () => {
  expect(() => replaceFigures('# Benchmark\n', 'FIGURES')).toThrow('no place for figures');
});
