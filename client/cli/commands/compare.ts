import type { Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { inHomeOf } from '../other-home.ts';
import { cleanLine, cleanText, renderTable, type Paint } from '../terminal-text.ts';
import {
  compareCriteria,
  compareFigures,
  modeOf,
  secondsOf,
  type ComparedRun,
} from '../../../core/run/fork-record.ts';

export function registerCompare(command: Command, runner: CommandRunner): void {
  command.action(
    runner(async (context, one: string, other: string) =>
      compare(context, await readRun(context, one), await readRun(context, other)),
    ),
  );
}

function readRun(context: CommandContext, runId: string): Promise<ComparedRun> {
  return inHomeOf(context, runId, () => context.deps.readComparedRun(runId));
}

function compare({ paint }: CommandContext, a: ComparedRun, b: ComparedRun): CommandResult {
  const runs = [a, b];
  const criteria = compareCriteria(runs);
  const plan_diff = diff(
    runs.map(({ run_id, plan }) => ({ run_id, text: plan.map((line) => `${line}\n`).join('') })),
  );
  const answer_diff = diff(runs.map(({ run_id, answer }) => ({ run_id, text: answer })));
  const [headers = [], ...rows] = compareFigures(runs);
  const states = criteria.map((one) => [
    cleanLine(`${one.criterion_id}: ${one.description}`, criterionCharsMax),
    ...one.states.map((state) => state ?? '–'),
  ]);
  return {
    data: { a: toData(a), b: toData(b), criteria, plan_diff, answer_diff },
    lines: [
      ...renderTable(clean(headers), rows.map(clean)),
      '',
      ...renderTable(['criterion', cleanLine(a.run_id), cleanLine(b.run_id)], states),
      ...showDiff(paint, 'plan', plan_diff),
      ...showDiff(paint, 'answer', answer_diff),
    ],
  };
}

/** Characters of a criterion in its row. */
const criterionCharsMax = 80;

function toData(run: ComparedRun): object {
  const { run_id, status, usage, waves, plan, answer } = run;
  const seconds = secondsOf(run);
  return { run_id, mode: modeOf(run), status, seconds, usage, waves: waves.length, plan, answer };
}

/** Makes a unified diff, with the ids of the runs as names; empty for equal texts. */
function diff(texts: readonly { readonly run_id: string; readonly text: string }[]): string {
  const [a = { run_id: '', text: '' }, b = a] = texts;
  if (a.text === b.text) return '';
  return createTwoFilesPatch(a.run_id, b.run_id, a.text, b.text, undefined, undefined, {
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
}

function showDiff(paint: Paint, title: string, patch: string): string[] {
  if (patch === '') return ['', `${title}: equal`];
  const lines = cleanText(patch).trimEnd().split('\n');
  return ['', `${title}:`, ...lines.map((line) => paintLine(paint, line))];
}

function paintLine(paint: Paint, line: string): string {
  if (line.startsWith('+')) return paint('good', line);
  return line.startsWith('-') ? paint('bad', line) : line;
}

function clean(cells: readonly string[]): string[] {
  return cells.map((cell) => cleanLine(cell));
}
