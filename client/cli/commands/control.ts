import type { Command } from 'commander';
import { commandText } from '../../../core/text/command-text.ts';
import type { CommandRunner } from '../command-runner.ts';
import type { UserFact } from '../../../contracts/fact.ts';
import { badInput } from '../cli-error.ts';

interface Control {
  readonly name: 'pause' | 'resume' | 'stop';
  readonly description: string;
  readonly done: string;
}

const controls: readonly Control[] = [
  {
    name: 'pause',
    description: 'finish calls in flight and start nothing new',
    done: 'Calls in flight finish, nothing new starts.',
  },
  {
    name: 'resume',
    description: 'continue after a pause, or after the cause of a parked run is fixed',
    done: 'The run goes on.',
  },
  {
    name: 'stop',
    description: 'cancel calls in flight and end the run with the work done so far',
    done: 'The run ends with what there is.',
  },
];

/**
 * Registers the commands that send signals: the server records them, and a worker processes them as soon as there is
 * one.
 */
export function registerControls(program: Command, runner: CommandRunner): void {
  for (const { name, description, done } of controls) {
    program
      .command(name)
      .argument('<run>', 'id of the run')
      .argument('[reason...]', 'reason, shown with the run')
      .description(description)
      .action((run: string, words: readonly string[], _options: object, command: Command) =>
        runner.run(command, async ({ session }) => {
          const { client } = await session();
          const reason = words.join(' ').trim();
          const sent = await client[name](run, reason === '' ? {} : { reason });
          return {
            data: { run_id: run, sent: name, reason: sent.reason ?? null },
            lines: [`${name} was sent to ${run}. ${done} See: ${commandText('watch', run)}`],
          };
        }),
      );
  }
}

interface Options {
  readonly waive?: readonly string[];
  readonly answer?: readonly string[];
  readonly fact?: readonly string[];
}

export function registerAmend(program: Command, runner: CommandRunner): void {
  program
    .command('amend')
    .argument('<run>', 'id of the run')
    .argument('<instruction>', 'instruction for all further work, in quotes')
    .description('give a run an instruction, change answers or waive criteria')
    .option('--waive <criterion...>', 'ids of criteria to waive')
    .option('--answer <question=answer...>', 'answers to change, for example q1=EU')
    .option(
      '--fact <key=value...>',
      'facts that the instruction settles, for example "backup region=EU"',
    )
    .action((run: string, text: string, options: Options, command: Command) =>
      runner.run(command, async ({ session }) => {
        const { waive = [], answer = [], fact = [] } = options;
        const instruction = text.trim();
        if (instruction === '') throw badInput('The instruction is empty.');
        const answers = answer.map(readAnswer);
        const facts = fact.map(readFact);
        const { client } = await session();
        const sent = await client.amend(run, {
          instruction,
          ...(waive.length === 0 ? {} : { waive_criteria: waive }),
          ...(answers.length === 0 ? {} : { answers }),
          ...(facts.length === 0 ? {} : { facts }),
        });
        return {
          data: {
            run_id: run,
            sent: 'amend',
            instruction: sent.instruction,
            waive_criteria: waive,
            answers: sent.answers ?? [],
            facts: sent.facts ?? [],
          },
          lines: [
            `The instruction was sent to ${run}; its agents and its planner read it with their next model call. ` +
              `See: ${commandText('watch', run)}`,
          ],
        };
      }),
    );
}

function readAnswer(text: string): { readonly question_id: string; readonly answer: string } {
  const [question_id, answer] = readPair(
    text,
    '--answer takes a question and its new answer',
    '--answer q1=EU',
  );
  return { question_id, answer };
}

function readFact(text: string): UserFact {
  const [key, value] = readPair(
    text,
    '--fact takes a key and its value',
    '--fact "backup region=EU"',
  );
  return { key, value };
}

/** Splits a pair at the first `=`. @throws PlanwaveCliError when a side is empty. */
function readPair(text: string, what: string, example: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw badInput(`${what}, not "${text}". Try: ${example}`);
  }
  return [text.slice(0, at), text.slice(at + 1)];
}
