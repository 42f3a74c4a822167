import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { EvaluationInput, type EvaluationResult } from '../../../contracts/evaluation.ts';
import { renderJUnit } from '../../../core/evaluation/junit.ts';
import { findEvaluationFaults, listCells } from '../../../core/evaluation/matrix.ts';
import {
  formatEstimate,
  formatShare,
  summariseCells,
  type SummaryRow,
} from '../../../core/evaluation/summary.ts';
import {
  commandText,
  countOf,
  formatDollars,
  formatDuration,
  formatUsage,
} from '../../../core/text/format.ts';
import { badInput, exitCodes } from '../cli-error.ts';
import { exitCodeOfCells } from '../follow/follow-event.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';
import { writeOut, readInputText } from './json-file.ts';
import { describeFindings, readYamlFile } from './yaml-file.ts';
import { readWholeNumber } from './input-options.ts';
import { definedOnly } from '../../../core/json.ts';

interface EvalOptions {
  readonly fresh?: boolean;
  readonly repeat?: number;
  readonly parallel?: number;
  readonly check?: boolean;
  readonly junit?: string;
}

export function registerEval(command: Command, runner: CommandRunner): void {
  command
    .option('--fresh', 'also repeat cells that have a result')
    .option('--repeat <count>', 'runs of each goal under each setting', readWholeNumber)
    .option('--parallel <count>', 'runs at the same time', readWholeNumber)
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--check', 'only list the faults of the file')
    .action(runner(evaluateFile));
}

async function evaluateFile(
  context: CommandContext,
  name: string,
  options: EvalOptions,
): Promise<CommandResult> {
  const { deps, json } = context;
  const file = readYamlFile(await readInputText(deps, name), EvaluationInput, {
    whole: 'the evaluation',
    fields: 'docs/evaluation.md',
  });
  const shown = name === '-' ? 'standard input' : name;
  const findings =
    file.value === null ? file.findings : file.place(findEvaluationFaults(file.value));
  if (file.value === null || findings.length > 0) {
    const lines = describeFindings(shown, findings);
    return {
      data: { file: shown, ok: false, findings },
      lines,
      exitCode: exitCodes.badInput,
    };
  }
  const input = applyOptions(
    file.value,
    options,
    name === '-' ? deps.cwd : dirname(resolve(deps.cwd, name)),
  );
  const cells = countOf(listCells(input).length, 'cell');
  if (options.check === true) {
    return {
      data: { file: shown, ok: true, findings: [] },
      lines: [cleanLine(`${shown}: ${cells}, no finding.`)],
    };
  }
  const junit = placeOf(options.junit, deps.cwd);
  const { client } = await context.session();
  const started = await client.evaluate(input);
  if (!json) {
    deps.io.stderr.write(
      `${started.evaluation_id}: ${cells}. Ctrl-C leaves it at work; the same command returns to it. ` +
        `Its result, once it has ended: ${commandText('report', started.evaluation_id)}\n`,
    );
  }
  const result = await started.result();
  if (junit !== null) await writeOut(junit, renderJUnit(result), 'The JUnit file');
  return showEvaluation(result);
}

/** Shows an evaluation that has ended. */
export function showEvaluation(result: EvaluationResult): CommandResult {
  const rows = summariseCells(result.cells);
  return {
    data: { ...result, summary: rows },
    lines: describeResult(result, rows),
    exitCode: exitCodeOfCells(result),
  };
}

/**
 * Returns the path of a file that is to be written after hours of work.
 *
 * @throws CliError when its folder is not there.
 */
function placeOf(file: string | undefined, cwd: string): string | null {
  if (file === undefined) return null;
  const path = resolve(cwd, file);
  if (existsSync(dirname(path))) return path;
  throw badInput(
    `--junit: there is no folder ${dirname(path)}. Try: a file in a folder that exists`,
  );
}

/** Takes over what was typed. Folders in the file are relative to it. @throws CliError for a number that does not fit. */
function applyOptions(
  input: EvaluationInput,
  { fresh, repeat, parallel }: EvalOptions,
  folder: string,
): EvaluationInput {
  const goals = input.goals.map(({ workspace_dir, ...goal }) => ({
    ...goal,
    ...(workspace_dir !== undefined && { workspace_dir: resolve(folder, workspace_dir) }),
  }));
  const settings = input.settings.map(({ agents_dir, ...setting }) => ({
    ...setting,
    ...(agents_dir !== undefined && { agents_dir: resolve(folder, agents_dir) }),
  }));
  const given = { ...input, goals, settings, ...definedOnly({ fresh, repeat, parallel }) };
  const checked = EvaluationInput.safeParse(given);
  if (checked.success) return checked.data;
  throw badInput(
    checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  );
}

function describeResult({ cells, usage }: EvaluationResult, rows: readonly SummaryRow[]): string[] {
  const table = rows.map((row) =>
    [
      row.goal ?? 'all goals',
      row.setting,
      `${row.cells}${row.cached === 0 ? '' : ` (${row.cached} from before)`}`,
      formatShare(row.passed),
      formatEstimate(row.cost_micro_usd, formatDollars),
      formatEstimate(row.calls, String),
      formatEstimate(row.seconds, formatDuration),
      row.graders
        .map(
          ({ grader, passed }) => `${grader} ${formatShare({ ...passed, low: null, high: null })}`,
        )
        .join(', '),
    ].map((cell) => cleanLine(cell)),
  );
  const failed = cells
    .filter(({ passed }) => !passed)
    .map(({ run_id, goal, setting, status, reason, grades }) => {
      const why = grades.filter(({ result }) => result !== 'passed');
      const words = why.map(
        ({ grader, result, reason: said }) => `${grader} ${result.replace('_', ' ')}: ${said}`,
      );
      return cleanLine(
        `${run_id} (${goal}, ${setting}) ${status.replaceAll('_', ' ')}${reason === '' ? '' : `: ${reason}`}${words.length === 0 ? '' : `; ${words.join('; ')}`}`,
        400,
      );
    });
  return [
    ...renderTable(
      ['goal', 'setting', 'cells', 'passed', 'cost', 'calls', 'time', 'graders'],
      table,
    ),
    ...(failed.length === 0 ? [] : ['', 'Not passed:', ...failed]),
    '',
    'Shares with 95% intervals by Wilson, medians with 95% intervals by bootstrap.',
    `Bought now: ${formatUsage(usage)}.`,
  ];
}
