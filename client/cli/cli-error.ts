import { PlanwaveClientError, type ClientErrorCode } from '../client-error.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** A failure that the command line words itself: one line that says what happened and what to try. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exitCode: ExitCode;
  /** More for scripts, put into the `error` object of `--json`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    exitCode: ExitCode,
    message: string,
    data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.data = data;
  }
}

export function badInput(message: string): CliError {
  return new CliError('bad_input', exitCodes.badInput, message);
}

/** A failure as the user sees it. */
interface ShownError {
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function toShownError(error: unknown): ShownError {
  if (error instanceof CliError) {
    const { code, exitCode, message, data } = error;
    return { code, exitCode, message, data };
  }
  if (error instanceof PlanwaveClientError) {
    const { code, message } = error;
    return { code, exitCode: codesOfErrors[code], message, data: {} };
  }
  return {
    code: 'internal',
    exitCode: exitCodes.unmet,
    message: `${messageOf(error) || 'unknown failure'} (PLANWAVE_DEBUG=1 shows where)`,
    data: {},
  };
}

/** Exit codes that scripts can rely on. Listed in `--help`. */
export const exitCodes = {
  ok: 0,
  unmet: 1,
  badInput: 2,
  unreachable: 3,
  notFound: 4,
  refused: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeHelp: readonly (readonly [ExitCode, string])[] = [
  [exitCodes.ok, 'done'],
  [exitCodes.unmet, 'the run ended unmet, stopped or failed; a check failed'],
  [exitCodes.badInput, 'bad usage or bad input'],
  [exitCodes.unreachable, 'the server cannot be reached or refuses the credentials'],
  [exitCodes.notFound, 'there is no such run, result, thread or namespace'],
  [exitCodes.refused, 'the run refused the answer or accepts no more messages'],
  [exitCodes.interrupted, 'left with Ctrl-C; the run continues'],
];

const codesOfErrors: Readonly<Record<ClientErrorCode, ExitCode>> = {
  unreachable: exitCodes.unreachable,
  unauthorized: exitCodes.unreachable,
  not_found: exitCodes.notFound,
  already_exists: exitCodes.badInput,
  bad_input: exitCodes.badInput,
  encrypted: exitCodes.badInput,
  run_ended: exitCodes.refused,
  refused: exitCodes.refused,
  internal: exitCodes.unmet,
};
