import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import { badInput } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';

interface Options {
  readonly waive?: readonly string[];
  readonly answer?: readonly string[];
}

export function registerAmend(program: Command, runner: CommandRunner): void {
  program
    .command('amend')
    .argument('<run>', 'id of the run')
    .argument('<instruction>', 'what the next planning must follow, in quotes')
    .description('give a run an instruction for its next planning')
    .option('--waive <criterion...>', 'ids of criteria that are given up')
    .option('--answer <question=answer...>', 'answers that were taken and shall be others: q1=EU')
    .action((run: string, text: string, { waive = [], answer = [] }: Options, command: Command) =>
      runner.run(command, async ({ session }) => {
        const instruction = text.trim();
        if (instruction === '') throw badInput('The instruction is empty.');
        const answers = answer.map(readAnswer);
        const { client } = await session();
        const sent = await client.amend(run, {
          instruction,
          ...(waive.length === 0 ? {} : { waive_criteria: waive }),
          ...(answers.length === 0 ? {} : { answers }),
        });
        return {
          data: {
            run_id: run,
            sent: 'amend',
            instruction: sent.instruction,
            waive_criteria: waive,
            answers: sent.answers ?? [],
          },
          lines: [
            `The instruction was sent to ${run} and holds from its next planning. ` +
              `See: ${commandText('watch', run)}`,
          ],
        };
      }),
    );
}

function readAnswer(text: string): { readonly question_id: string; readonly answer: string } {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw badInput(
      `--answer takes a question and its new answer, not "${text}". Try: --answer q1=EU`,
    );
  }
  return { question_id: text.slice(0, at), answer: text.slice(at + 1) };
}
