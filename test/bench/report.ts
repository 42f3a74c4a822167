import { renderTable } from '../../client/cli/terminal-text.ts';
import type { FigureRow } from './figure.ts';
import { formatMegabytes, formatNumber, formatSummary } from './format.ts';
import type { Machine } from './machine.ts';

export interface BenchReport {
  /** Date and time, ISO 8601. */
  readonly measured_at: string;
  /** The sizes were cut down to see that everything works. */
  readonly trial: boolean;
  readonly machine: Machine;
  readonly figures: readonly FigureRow[];
  /** Names of figures that could not be measured. */
  readonly failed: readonly string[];
}

const headers = ['reached', 'figure', 'target', 'measured', 'floor'];

export function renderJson(report: BenchReport): string {
  return JSON.stringify(report, null, 2);
}

/** For the terminal. */
export function renderReport({ machine, trial, figures, failed }: BenchReport): string {
  return [
    ...renderTable(headers, figures.map(cellsOf)),
    '',
    ...describeMachine(machine),
    ...(trial ? ['A trial: every size was cut down, so none of this is a figure.'] : []),
    ...failed.map((name) => `Not measured: ${name}. The reason is above.`),
  ].join('\n');
}

/** For docs/benchmark.md: what stands between its markers. */
export function renderMarkdown({ measured_at, machine, figures }: BenchReport): string {
  const notes = figures.filter(({ notes: text }) => text !== '');
  return [
    `Measured on ${measured_at.slice(0, 10)}.`,
    '',
    ...renderMarkdownTable(headers, figures.map(cellsOf)),
    '',
    ...describeMachine(machine).map((line) => `- ${line}`),
    '',
    'Notes:',
    '',
    ...notes.map(({ figure, notes: text }) => `- ${figure}: ${text}`),
  ].join('\n');
}

const begin = '<!-- figures: npm run bench writes what stands between here -->';
const end = '<!-- and here -->';

/**
 * Puts figures in the place of the older ones. Everything else on the page was written by a person and stays.
 *
 * @throws when the page has lost its markers.
 */
export function replaceFigures(page: string, figures: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) {
    throw new Error(`The page has no place for figures. Try: put back the lines\n${begin}\n${end}`);
  }
  return `${page.slice(0, from + begin.length)}\n\n${figures}\n\n${page.slice(to)}`;
}

function cellsOf({ reached, figure, target, measured, floor }: FigureRow): string[] {
  const word = reached === null ? '' : reached ? 'yes' : 'no';
  return [word, figure, target, measured, floor];
}

function describeMachine(machine: Machine): string[] {
  const { cores, processor, memory_bytes, system, node, load, fsync_ms } = machine;
  return [
    `${cores} cores (${processor}), ${formatMegabytes(memory_bytes)} of memory, ${system}, load ${formatNumber(load)} before`,
    `1 KB on disk with fdatasync: ${formatSummary(fsync_ms, 'ms')}`,
    `planwave ${machine.planwave}, Temporal SDK ${machine.temporal_sdk}, Temporal CLI ${machine.temporal_cli}, Node ${node}`,
  ];
}

/** With columns as wide as their widest cell, as the formatter wants it. */
function renderMarkdownTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const width = (column: number): number =>
    Math.max(3, ...[names, ...rows].map((row) => Array.from(row[column] ?? '').length));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell + ' '.repeat(width(column) - Array.from(cell).length)).join(' | ')} |`;
  return [
    line(names),
    line(names.map((_, column) => '-'.repeat(width(column)))),
    ...rows.map(line),
  ];
}
