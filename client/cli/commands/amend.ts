import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import { badInput } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';

interface Options {
  readonly waive?: readonly string[];
}

export function registerAmend(program: Command, runner: CommandRunner): void {
  program
    .command('amend')
    .argument('<run>', 'id of the run')
    .argument('<instruction>', 'what the next planning must follow, in quotes')
    .description('give a run an instruction for its next planning')
    .option('--waive <criterion...>', 'ids of criteria that are given up')
    .action((run: string, text: string, { waive = [] }: Options, command: Command) =>
      runner.run(command, async ({ session }) => {
        const instruction = text.trim();
        if (instruction === '') throw badInput('The instruction is empty.');
        const { client } = await session();
        const sent = await client.amend(run, {
          instruction,
          ...(waive.length === 0 ? {} : { waive_criteria: waive }),
        });
        return {
          data: {
            run_id: run,
            sent: 'amend',
            instruction: sent.instruction,
            waive_criteria: waive,
          },
          lines: [
            `The instruction was sent to ${run} and holds from its next planning. ` +
              `See: ${commandText('watch', run)}`,
          ],
        };
      }),
    );
}
