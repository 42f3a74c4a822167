import { CommanderError } from 'commander';
import { Interrupted } from '../cli-io.ts';
import type { CliDeps, LazyCliDeps } from '../cli-deps.ts';
import { toShownError, exitCodes } from '../cli-error.ts';
import { examples } from '../help.ts';
import { createProgram } from './program.ts';
import { cleanLine, safeJson } from '../terminal-text.ts';
import { commandText } from '../../../core/text/format.ts';

/**
 * Runs one command line.
 *
 * @param argv the user's own arguments, without the names of the interpreter and the script
 * @returns the exit code. The caller sets `process.exitCode`: ending the process at once could cut off output.
 */
export async function runCli(
  argv: readonly string[],
  shell: CliDeps | LazyCliDeps,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = await createProgram(argv, shell, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return showError(error, argv, shell);
  }
}

function showError(
  error: unknown,
  argv: readonly string[],
  { io, env }: CliDeps | LazyCliDeps,
): number {
  if (error instanceof CommanderError) return showUsageError(error, argv, io);
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
function showUsageError(error: CommanderError, argv: readonly string[], io: CliDeps['io']): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const isHelp = error.code === 'commander.help';
  const message = isHelp
    ? `a command is missing. Try: ${commandText('--help')}`
    : cleanLine(error.message.replace(/^error: /, '')).replace(/(?<!\.)\.+$/, '');
  if (wantsJson(argv)) io.stdout.write(`${safeJson({ error: { code: 'bad_input', message } })}\n`);
  else if (!isHelp) io.stderr.write(`${message}. Try: ${cureOf(error, argv)}\n`);
  return exitCodes.badInput;
}

/** Names the help of the command that was meant, or the quotes that a goal of several words needs. */
function cureOf({ code }: CommanderError, argv: readonly string[]): string {
  const [name = ''] = argv;
  const isKnown = name in examples;
  if (code === 'commander.excessArguments' && (name === 'start' || name === 'team')) {
    const firstOption = argv.findIndex((word) => word.startsWith('-'));
    const words = argv.slice(1, firstOption === -1 ? undefined : firstOption);
    return `put it in quotes: ${commandText(name, words.join(' '))}`;
  }
  return isKnown ? commandText(name, '--help') : commandText('--help');
}

/** Detects `--json` without the parser, because a command line that can't be parsed may want JSON too. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.findIndex((word) => word === '--' || word === 'temporal');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
