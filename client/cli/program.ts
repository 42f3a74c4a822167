import { Command } from 'commander';
import { commandPrefix } from '../command-text.ts';
import type { CliDeps } from './cli-deps.ts';
import { createCommandRunner } from './command-runner.ts';
import type { CommandRunner } from './command-runner.ts';
import { registerAmend } from './commands/amend.ts';
import { registerAnswer } from './commands/answer.ts';
import { registerControls } from './commands/control.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerExport } from './commands/export.ts';
import { registerList } from './commands/list.ts';
import { registerQuestions } from './commands/questions.ts';
import { registerReport } from './commands/report.ts';
import { registerStart } from './commands/start.ts';
import { registerStatus } from './commands/status.ts';
import { registerTeam } from './commands/team.ts';
import { registerTemporal } from './commands/temporal.ts';
import { registerThreads } from './commands/threads.ts';
import { registerWatch } from './commands/watch.ts';
import { exitCodeHelp } from './exit-codes.ts';

type Register = (program: Command, runner: CommandRunner) => void;

/** In the order of the help: what one does first comes first. */
const commands: readonly Register[] = [
  registerStart,
  registerTeam,
  registerWatch,
  registerQuestions,
  registerAnswer,
  registerStatus,
  registerReport,
  registerList,
  registerControls,
  registerAmend,
  registerExport,
  registerThreads,
  registerDoctor,
  registerTemporal,
];

/** @param reportExitCode called with the exit code of the command that ran */
export function createProgram(
  deps: CliDeps,
  reportExitCode: (exitCode: number) => void = () => {},
): Command {
  const program = new Command('planwave')
    .description('Start, watch and steer planwave runs on a Temporal server.')
    .usage('<command> [options]')
    // Without it, the options after `temporal` would be taken for ours.
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
  addGlobalOptions(program);
  return program;
}

/** Known to every command below too, so that they may stand behind its name. */
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

function helpFooter(): string {
  const codes = exitCodeHelp.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return [
    '',
    'Exit codes:',
    ...codes,
    '',
    `In scripts: ${commandPrefix.replace('run', 'run --silent')} <command> --json`,
  ].join('\n');
}
