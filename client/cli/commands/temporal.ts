import type { Command } from 'commander';
import type { CommandRunner, GlobalOptions } from '../command-runner.ts';

export function registerTemporal(program: Command, runner: CommandRunner): void {
  program
    .command('temporal')
    .argument('[arguments...]', 'passed to the Temporal CLI unchanged')
    .description('run the Temporal CLI that planwave uses')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action((words: readonly string[], _options: object, command: Command) =>
      runner.run(command, async ({ deps, globals }) => ({
        data: undefined,
        lines: [],
        exitCode: await deps.runTemporalCli([...words, ...passedOn(globals)]),
      })),
    );
}

/** Options of ours, given before the command's name, in the Temporal CLI's own words. */
function passedOn({ address, namespace, json }: GlobalOptions): string[] {
  return [
    ...(address === undefined ? [] : ['--address', address]),
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(json === true ? ['--output', 'json'] : []),
  ];
}
