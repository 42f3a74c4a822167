import { types } from 'node:util';

/** A failure whose message tells the user what happened and what to do; shown without a stack. */
export class ExpectedError extends Error {
  /** @override */
  name = 'ExpectedError';

  /**
   * @param {string} message
   * @param {number} [exitCode] exit code of the command
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The exit code of every command for a wrong variable, option or file. */
export const badSettingsExitCode = 2;

/**
 * @param {unknown} error anything thrown
 * @returns {string} the message alone for an expected failure, the stack for a defect
 */
export function describeError(error) {
  if (error instanceof ExpectedError) return error.message;
  return types.isNativeError(error) ? (error.stack ?? error.message) : String(error);
}

/**
 * @param {unknown} error anything thrown
 * @returns {string | undefined} the code of a system error, such as `ENOENT`
 */
export function errorCode(error) {
  if (!types.isNativeError(error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/**
 * @param {unknown} error anything thrown
 * @returns {string} its message, without a stack
 */
export function messageOf(error) {
  return types.isNativeError(error) ? error.message : String(error);
}
