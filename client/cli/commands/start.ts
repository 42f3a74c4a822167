import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { safeJson } from '../text/clean-text.ts';
import { readRunInput } from './read-run-input.ts';
import type { StartOptions } from './read-run-input.ts';
import { readAmount } from './read-amount.ts';
import { readWholeNumber } from './read-whole-number.ts';
import { follow } from './watch.ts';

export function registerStart(program: Command, runner: CommandRunner): void {
  program
    .command('start')
    .argument('[goal]', 'what the run is to reach, in quotes')
    .description('start a run')
    .option('--watch', 'show the run live until it ends')
    .option('--id <run>', 'id of the run; made of the goal when left out')
    .option('--constraint <text...>', 'what every plan must keep to')
    .option('--criterion <text...>', 'what must be met, with evidence, before the run is done')
    .option('--agents <folder>', 'folder with your own agents, on the machine of the worker')
    .option('--workspace <folder>', 'where agents write files, on the machine of the worker')
    .option('--defaults', 'take the default of each question at once, where it has one')
    .option('--no-triads', 'have every delegation done by one agent')
    .option('--assume', 'let agents assume what is not critical, instead of asking')
    .option(
      '--deadline <seconds>',
      'take the default of a question after so long, where it has one',
      readWholeNumber,
    )
    .option('--remind <seconds>', 'first reminder of an open question', readWholeNumber)
    .option('--escalate-to <person>', 'who an open question is for, too, after --escalate-after')
    .option('--escalate-after <seconds>', 'see --escalate-to', readWholeNumber)
    .option('--max-waves <count>', 'waves before the run asks whether to go on', readWholeNumber)
    .option('--max-parallel <count>', 'delegations that work at the same time', readWholeNumber)
    .option('--max-delegations <count>', 'delegations in one wave', readWholeNumber)
    .option('--max-turns <count>', 'model calls of one delegation', readWholeNumber)
    .option('--max-output-tokens <count>', 'output tokens of one model call', readWholeNumber)
    .option('--budget-usd <amount>', 'US dollars that the run may spend', readAmount)
    .option('--budget-tokens <count>', 'tokens that the run may use', readWholeNumber)
    .option('--budget-calls <count>', 'model calls that the run may make', readWholeNumber)
    .option('--budget-minutes <count>', 'minutes that the run may work', readAmount)
    .option('--input <file>', 'JSON file with the whole input; "-" reads standard input')
    .action((goal: string | undefined, options: StartOptions, command: Command) =>
      runner.run(command, (context) => start(context, goal, options)),
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
