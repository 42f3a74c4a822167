import type { Command } from 'commander';
import { commandText } from '../../command-text.ts';
import type { CommandRunner } from '../command-runner.ts';

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

/** Signals: recorded by the server, and heeded as soon as a worker is there. */
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
