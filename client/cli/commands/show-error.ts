import { CommanderError, type Command } from 'commander';
import { commandText } from '../../../core/text/format.ts';
import type { CliDeps, LazyCliDeps } from '../cli-deps.ts';
import { exitCodes, toShownError } from '../cli-error.ts';
import { Interrupted } from '../cli-io.ts';
import { cleanLine, safeJson } from '../terminal-text.ts';

/** Returns the first word that can be the name of a command: no option, no value of a global one, and not `help`. */
export function findCommandName(argv: readonly string[]): string | undefined {
  return argv.find((word, at) => {
    const before = argv[at - 1];
    return (
      !word.startsWith('-') && word !== 'help' && before !== '--address' && before !== '--namespace'
    );
  });
}

/** Command line that failed, and the program that read it. */
interface Usage extends Pick<CliDeps | LazyCliDeps, 'io' | 'env'> {
  readonly program: Command;
  readonly argv: readonly string[];
}

/** Shows an error on standard error, or with `--json` on standard output. Returns the exit code. */
export function showError(error: unknown, usage: Usage): number {
  const { argv, io, env } = usage;
  if (error instanceof CommanderError) return showUsageError(error, usage);
  if (error instanceof Interrupted) return exitCodes.interrupted;
  const { code, exitCode, message, data } = toShownError(error);
  if (wantsJson(argv)) io.stdout.write(`${safeJson({ error: { code, message, ...data } })}\n`);
  else
    io.stderr.write(
      `${message
        .split('\n')
        .map((line) => cleanLine(line))
        .join('\n')}\n`,
    );
  if (env['PLANWAVE_DEBUG'] === '1' && error instanceof Error) {
    io.stderr.write(`${error.stack ?? ''}\n`);
  }
  return exitCode;
}

/** Shows a usage error. Commander reports help and versions as errors with exit code 0. */
function showUsageError(error: CommanderError, usage: Usage): number {
  const { argv, io } = usage;
  if (error.exitCode === 0) return exitCodes.ok;
  const isHelp = error.code === 'commander.help';
  const what = isHelp
    ? 'a command is missing'
    : cleanLine(error.message.replace(/^error: /, '')).replace(/(?<!\.)\.+$/, '');
  const message = `${what}${what.endsWith('?') ? '' : '.'} Try: ${cureOf(error, usage)}`;
  if (wantsJson(argv)) io.stdout.write(`${safeJson({ error: { code: 'bad_input', message } })}\n`);
  else if (!isHelp) io.stderr.write(`${message}\n`);
  return exitCodes.badInput;
}

/** Names the help of the command that was meant, or the quotes that a goal of several words needs. */
function cureOf({ code }: CommanderError, { program, argv }: Usage): string {
  const names = namesOfCommand(program, argv);
  const [name = '', inner] = names;
  const command = program.commands.find((one) => one.name() === name);
  if (code === 'commander.excessArguments' && inner === undefined && quoted.has(name)) {
    return `put it in quotes: ${commandText(name, command?.args.join(' ') ?? '')}`;
  }
  return commandText(...names, '--help');
}

/** Commands whose only argument is a text of several words. */
const quoted: ReadonlySet<string> = new Set(['start', 'team']);

/** Returns the names of the command that the words mean, from the outermost one. Empty for an unknown command. */
function namesOfCommand(program: Command, argv: readonly string[]): string[] {
  const names: string[] = [];
  let command: Command | undefined = program;
  for (const word of argv.slice(argv.indexOf(findCommandName(argv) ?? ''))) {
    if (word.startsWith('-')) continue;
    command = command.commands.find((one) => one.name() === word);
    if (command === undefined) break;
    names.push(word);
  }
  return names;
}

/** Detects `--json` without the parser, because a command line that can't be parsed may want JSON too. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.findIndex((word) => word === '--' || word === 'temporal');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
