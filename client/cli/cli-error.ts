import { PlanwaveClientError } from '../client-error.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import type { ExitCode } from './exit-codes.ts';

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

/** What the user sees of any failure. */
export interface ShownError {
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
    return { code, exitCode: exitCodeOf(code), message, data: {} };
  }
  const text = error instanceof Error ? error.message : String(error);
  return {
    code: 'internal',
    exitCode: exitCodes.unmet,
    message: `${text || 'unknown failure'} (PLANWAVE_DEBUG=1 shows where)`,
    data: {},
  };
}
