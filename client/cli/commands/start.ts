import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { safeJson } from '../text/clean-text.ts';
import { readRunInput } from './read-run-input.ts';
import type { StartOptions } from './read-run-input.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { addLimitOptions, addQuestionOptions, addWorkOptions } from './run-settings-options.ts';
import { follow } from './watch.ts';

export function registerStart(program: Command, runner: CommandRunner): void {
  const command = program
    .command('start')
    .argument('[goal]', 'goal of the run, in quotes')
    .description('start a run')
    .option('--watch', 'show the run live until it ends')
    .option('--id <run>', 'id of the run; default: derived from the goal')
    .option('--constraint <text...>', 'constraint for every plan')
    .option(
      '--criterion <text...>',
      'acceptance criterion: must be met with evidence before the run is done',
    );
  addWorkOptions(command)
    .option('--no-triads', 'do not use triads')
    .option('--no-teams', 'do not use teams');
  addQuestionOptions(command)
    .option('--max-waves <count>', 'waves before the run asks whether to continue', readWholeNumber)
    .option('--max-parallel <count>', 'delegations that work in parallel', readWholeNumber)
    .option('--max-delegations <count>', 'delegations per wave', readWholeNumber);
  addLimitOptions(command)
    .option('--input <file>', 'JSON file with the whole input; "-" reads standard input')
    .action((goal: string | undefined, options: StartOptions, given: Command) =>
      runner.run(given, (context) => start(context, goal, options)),
    );
}

async function start(
  context: CommandContext,
  goal: string | undefined,
  options: StartOptions,
): Promise<CommandResult> {
  const input = await readRunInput(context.deps, goal, options);
  const { client } = await context.session();
  const { run_id } = await client.startRun(input, { run_id: options.id });
  const data = { run_id, watch: commandText('watch', run_id) };
  if (options.watch !== true) {
    return { data, lines: [`Started ${run_id}.`, `Watch it with: ${data.watch}`] };
  }
  const { stdout } = context.deps.io;
  stdout.write(
    context.json ? `${safeJson({ type: 'started', ...data })}\n` : `Started ${run_id}.\n`,
  );
  return follow(context, run_id, { defaults: options.defaults === true });
}
