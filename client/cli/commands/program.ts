import { Command } from 'commander';
import type { CliDeps, LazyCliDeps } from '../cli-deps.ts';
import { createCommandRunner } from '../command-runner.ts';
import type { CommandRunner, GlobalOptions } from '../command-runner.ts';
import { addExamples, helpFooter } from '../help.ts';
import { commands } from './command-list.ts';

/**
 * Creates the program. Only the command that the words name has its options and its work.
 *
 * @param argv words of the command line; null: all commands are loaded
 * @param reportExitCode called with the exit code of the command that ran
 */
export async function createProgram(
  argv: readonly string[] | null,
  shell: CliDeps | LazyCliDeps,
  reportExitCode: (exitCode: number) => void = () => {},
): Promise<Command> {
  const program = new Command('planwave')
    .description('Start, watch and steer planwave runs on a Temporal server.')
    .usage('<command> [options]')
    .version(shell.version ?? 'unknown', '--version', 'print the version')
    // Without it, the options after `temporal` would be read as ours.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.io.stdout.write(text),
      writeErr: (text) => shell.io.stderr.write(text),
      // Printed by runCli, in the form of all other errors.
      outputError: () => {},
    })
    .addHelpText('after', helpFooter());
  const runner = createCommandRunner(shell, reportExitCode);
  const wanted = argv === null ? null : findName(argv);
  for (const { name, does, takes = [], load } of commands) {
    const command = program.command(name).description(does);
    for (const [word, description] of takes) command.argument(word, description);
    // One after the other, in the order of the help.
    // oxlint-disable-next-line no-await-in-loop
    if (wanted === null || wanted === name) (await load())(command, runner);
  }
  registerTemporal(program, runner);
  addExamples(program);
  addGlobalOptions(program);
  return program;
}

/** Returns the first word that can be the name of a command: no option, no value of a global one, and not `help`. */
function findName(argv: readonly string[]): string | undefined {
  return argv.find((word, at) => {
    const before = argv[at - 1];
    return (
      !word.startsWith('-') && word !== 'help' && before !== '--address' && before !== '--namespace'
    );
  });
}

/** Adds the global options to every command below too, so that they may stand after its name. */
function addGlobalOptions(command: Command): void {
  for (const inner of command.commands) addGlobalOptions(inner);
  command
    .option('--json', 'print one JSON document on standard output and nothing else')
    .option(
      '--address <host:port>',
      'Temporal server (default: TEMPORAL_ADDRESS, else localhost:7233)',
    )
    .option('--namespace <name>', 'Temporal namespace (default: TEMPORAL_NAMESPACE, else default)');
}

function registerTemporal(program: Command, runner: CommandRunner): void {
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

/** Returns our options that were given before the command's name, in the Temporal CLI's own words. */
function passedOn({ address, namespace, json }: GlobalOptions): string[] {
  return [
    ...(address === undefined ? [] : ['--address', address]),
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(json === true ? ['--output', 'json'] : []),
  ];
}
