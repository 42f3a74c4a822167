import type { Command } from 'commander';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { followRun } from '../follow/follow-run.ts';
import { artifactHome } from '../command-runner.ts';

interface Options {
  readonly defaults?: boolean;
  readonly ask?: boolean;
}

export function registerWatch(program: Command, runner: CommandRunner): void {
  program
    .command('watch')
    .argument('<run>', 'id of the run')
    .description('show a run live until it ends, and ask its questions; Ctrl-C leaves it running')
    .option('--defaults', 'answer each question that has a default with it')
    .option('--no-ask', 'show questions, but do not ask them here')
    .action((run: string, options: Options, command: Command) =>
      runner.run(command, (context) => follow(context, run, options)),
    );
}

/** What `watch` and `start --watch` do. Prints everything itself. */
export async function follow(
  context: CommandContext,
  runId: string,
  options: Options,
): Promise<CommandResult> {
  const { client } = await context.session();
  const exitCode = await followRun(client, runId, {
    io: context.deps.io,
    json: context.json,
    defaults: options.defaults === true,
    askQuestions: options.ask !== false,
    artifactHome: artifactHome(context),
  });
  return { data: undefined, lines: [], exitCode };
}
