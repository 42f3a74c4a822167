import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { exitCodes } from '../exit-codes.ts';
import { cleanText } from '../text/clean-text.ts';

export function registerReport(program: Command, runner: CommandRunner): void {
  program
    .command('report')
    .argument('<run>', 'id of the run')
    .description("print a run's result.md")
    .action((run: string, _options: object, command: Command) =>
      runner.run(command, (context) => showReport(context, run)),
    );
}

async function showReport(context: CommandContext, runId: string): Promise<CommandResult> {
  const text = await context.deps.readResult(runId);
  if (text === null) throw await whyNoResult(context, runId);
  return { data: { run_id: runId, result_md: text }, lines: [cleanText(text).trimEnd()] };
}

/** The run may be unknown, at work, or ended without a result. */
async function whyNoResult(context: CommandContext, runId: string): Promise<CliError> {
  const { client } = await context.session();
  const run = await client.describe(runId);
  const message =
    run.execution === 'running'
      ? `Run ${runId} has not ended, so there is no result yet. Try: ${commandText('watch', runId)}`
      : `No result of run ${runId} is stored here (its workflow is ${run.execution.replaceAll('_', ' ')}). ` +
        `Try: ${commandText('watch', runId)}, or PLANWAVE_HOME as the worker has it`;
  return new CliError('no_result', exitCodes.notFound, message);
}
