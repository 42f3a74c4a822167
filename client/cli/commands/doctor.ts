import type { Command } from 'commander';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { taskQueueOf } from '../../task-queue.ts';
import type { DoctorCheck, DoctorFinding } from '../doctor-check.ts';
import { exitCodes } from '../exit-codes.ts';
import { cleanLine } from '../text/clean-text.ts';
import { replayOpenWorkflows } from './replay-open-workflows.ts';
import { createServerChecks } from './server-checks.ts';

export function registerDoctor(program: Command, runner: CommandRunner): void {
  program
    .command('doctor')
    .description('check everything a run needs, and show how to repair what fails')
    .option('--replay', 'replay all open runs on this version and report incompatibilities')
    .action(({ replay = false }: Options, command: Command) =>
      runner.run(command, replay ? replayOpenWorkflows : examine),
    );
}

interface Options {
  readonly replay?: boolean;
}

interface CheckResult extends DoctorFinding {
  readonly name: string;
}

async function examine(context: CommandContext): Promise<CommandResult> {
  const results: CheckResult[] = [];
  for (const check of [...(await serverChecks(context)), ...context.deps.doctorChecks]) {
    results.push({ name: check.name, ...(await runCheck(check)) });
  }
  const ok = results.every((result) => result.ok);
  return {
    data: { ok, checks: results },
    lines: [...results.flatMap((result) => describeResult(context, result)), verdict(results)],
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}

/** Without a server there is one finding, not four. */
async function serverChecks(context: CommandContext): Promise<readonly DoctorCheck[]> {
  try {
    return createServerChecks(await context.session(), taskQueueOf(context.deps.env));
  } catch (error) {
    const finding = { ok: false, detail: error instanceof Error ? error.message : String(error) };
    return [{ name: 'Temporal server', run: () => Promise.resolve(finding) }];
  }
}

async function runCheck(check: DoctorCheck): Promise<DoctorFinding> {
  try {
    return await check.run();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { ok: false, detail: `could not be checked: ${text}` };
  }
}

function describeResult({ paint }: CommandContext, result: CheckResult): string[] {
  const mark = result.ok ? paint('good', '✓') : paint('bad', '✗');
  return [
    `${mark} ${cleanLine(result.name)}: ${cleanLine(result.detail)}`,
    ...(result.ok || result.cure === undefined ? [] : [`    cure: ${cleanLine(result.cure)}`]),
  ];
}

function verdict(results: readonly CheckResult[]): string {
  const failed = results.filter((result) => !result.ok).length;
  return failed === 0 ? 'Everything is ready.' : `${failed} of ${results.length} checks failed.`;
}
