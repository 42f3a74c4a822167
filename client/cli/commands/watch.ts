import type { Command } from 'commander';
import {
  type CommandContext,
  type CommandResult,
  type CommandRunner,
  artifactHome,
} from '../command-runner.ts';
import { followRun } from '../follow/follow-run.ts';
import { addOptions, signerOption } from './input-options.ts';

interface Options {
  readonly defaults?: boolean;
  readonly ask?: boolean;
  readonly as?: string | undefined;
}

export function registerWatch(command: Command, runner: CommandRunner): void {
  addOptions(command, [signerOption])
    .option('--defaults', 'answer each question with its default, if it has one')
    .option('--no-ask', 'show questions without asking them')
    .action(runner(follow));
}

/** Runs `watch` and `start --watch`. Prints everything itself. */
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
    signer: options.as,
    artifactHome: artifactHome(context),
    describeLeaving: context.deps.describeLeaving,
  });
  return { data: undefined, lines: [], exitCode };
}
