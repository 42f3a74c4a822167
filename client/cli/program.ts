import { Command } from 'commander';
import type { CliDeps } from './cli-deps.ts';
import { createCommandRunner } from './command-runner.ts';
import type { CommandRunner, GlobalOptions } from './command-runner.ts';
import { registerAmend, registerControls } from './commands/control.ts';
import { registerAnswer } from './commands/answer.ts';
import { registerChanges } from './commands/changes.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerArtifact, registerExport, registerReport } from './commands/report.ts';
import { registerList } from './commands/list.ts';
import { registerFsck } from './commands/fsck.ts';
import { registerPrune } from './commands/prune.ts';
import { registerQuestions } from './commands/questions.ts';
import { registerStart } from './commands/start.ts';
import { registerStatus } from './commands/status.ts';
import { registerTeam } from './commands/team.ts';
import { registerThreads } from './commands/threads.ts';
import { registerWatch } from './commands/watch.ts';
import { addExamples, helpFooter } from './help.ts';

type Register = (program: Command, runner: CommandRunner) => void;

/** Commands in the order of the help, those needed first at the top. */
const commands: readonly Register[] = [
  registerStart,
  registerTeam,
  registerWatch,
  registerQuestions,
  registerAnswer,
  registerStatus,
  registerReport,
  registerChanges,
  registerList,
  registerControls,
  registerAmend,
  registerExport,
  registerArtifact,
  registerPrune,
  registerFsck,
  registerThreads,
  registerDoctor,
  registerTemporal,
];

/**
 * Creates the program.
 * @param reportExitCode called with the exit code of the command that ran
 */
export function createProgram(
  deps: CliDeps,
  reportExitCode: (exitCode: number) => void = () => {},
): Command {
  const program = new Command('planwave')
    .description('Start, watch and steer planwave runs on a Temporal server.')
    .usage('<command> [options]')
    .version(deps.version ?? 'unknown', '--version', 'print the version')
    // Without it, the options after `temporal` would be read as ours.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.io.stdout.write(text),
      writeErr: (text) => deps.io.stderr.write(text),
      // Printed by runCli, in the form of all other errors.
      outputError: () => {},
    })
    .addHelpText('after', helpFooter());
  const runner = createCommandRunner(deps, reportExitCode);
  for (const register of commands) register(program, runner);
  addExamples(program);
  addGlobalOptions(program);
  return program;
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
