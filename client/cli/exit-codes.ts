import type { ClientErrorCode } from '../client-error.ts';

/** What a script can rely on. Listed in `--help`. */
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
  run_ended: exitCodes.refused,
  internal: exitCodes.unmet,
};

export function exitCodeOf(code: ClientErrorCode): ExitCode {
  return codesOfErrors[code];
}
