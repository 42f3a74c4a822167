/**
 * Renders an evaluation as JUnit XML, which CI systems show: a suite for each setting, a test for each cell.
 *
 * Invariants:
 *   JU1. Whatever a text contains, the document is well formed: what XML can't hold is left out.
 *   JU2. A cell that did not pass is a failure; one that failed or could not be judged is an error; one that was not
 *        started is skipped.
 */
import type { CellResult, EvaluationResult } from '../../contracts/evaluation.ts';
import { hasRun } from './summary.ts';

export function renderJUnit({ name, cells }: EvaluationResult): string {
  const settings = [...new Set(cells.map(({ setting }) => setting))];
  const suites = settings.map((setting) =>
    renderSuite(
      setting,
      cells.filter((one) => one.setting === setting),
    ),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(name)}" ${countsOf(cells)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function renderSuite(setting: string, cells: readonly CellResult[]): string {
  return [
    `  <testsuite name="${escapeXml(setting)}" ${countsOf(cells)}>`,
    ...cells.map(renderCell),
    '  </testsuite>',
  ].join('\n');
}

type Outcome = 'passed' | 'failure' | 'error' | 'skipped';

function outcomeOf(cell: CellResult): Outcome {
  const { status, passed, grades } = cell;
  if (passed) return 'passed';
  if (!hasRun(cell)) return 'skipped';
  const isBroken = status === 'failed' || grades.some(({ result }) => result === 'not_run');
  return isBroken ? 'error' : 'failure';
}

function countsOf(cells: readonly CellResult[]): string {
  const count = (outcome: Outcome): number =>
    cells.filter((cell) => outcomeOf(cell) === outcome).length;
  const seconds = cells.reduce((sum, one) => sum + one.seconds, 0);
  return `tests="${cells.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}" time="${seconds}"`;
}

function renderCell(cell: CellResult): string {
  const { goal, setting, repetition, run_id, seconds } = cell;
  const head = `    <testcase classname="${escapeXml(setting)}" name="${escapeXml(`${goal} #${repetition}`)}" time="${seconds}">`;
  const outcome = outcomeOf(cell);
  const said = `      <system-out>${escapeXml(`run ${run_id}`)}</system-out>`;
  if (outcome === 'passed') return [head, said, '    </testcase>'].join('\n');
  const why = escapeXml(explain(cell));
  return [head, `      <${outcome} message="${why}"/>`, said, '    </testcase>'].join('\n');
}

function explain({ status, reason, grades }: CellResult): string {
  const parts = grades
    .filter(({ result }) => result !== 'passed')
    .map((grade) => `${grade.grader} ${grade.result.replace('_', ' ')}: ${grade.reason}`);
  const ended = status === 'completed' ? [] : [`${status.replaceAll('_', ' ')}. ${reason}`.trim()];
  return [...ended, ...parts].join('; ');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** Characters that no XML document may hold, and half surrogate pairs. */
const forbidden = /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]|\p{Cs}/gu;

function escapeXml(text: string): string {
  return text.replaceAll(forbidden, '').replaceAll(/[&<>"\n]/g, (one) => entities[one] ?? '');
}
