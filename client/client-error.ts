import { isRecord } from '../core/json.ts';

/**
 * Reason why a request to the server or the engine failed, for programs.
 * - `unreachable`: the server did not answer in time.
 * - `encrypted`: the key of what is asked for is not there.
 * - `run_ended`: the run is closed and takes no more messages.
 * - `refused`: what was asked does not take such a message.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'not_found'
  | 'already_exists'
  | 'bad_input'
  | 'unauthorized'
  | 'encrypted'
  | 'run_ended'
  | 'refused'
  | 'internal';

/** Failure whose message says in one line what happened and what to try. */
export class PlanwaveClientError extends Error {
  override readonly name = 'PlanwaveClientError';
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Returns null for what does not exist yet: a child is in its parent's view a moment before the server has started it.
 */
export function ifFound<T>(promise: Promise<T>): Promise<T | null> {
  return nullFor(['not_found'], promise);
}

/** Returns null for a message to a run that has ended, or is gone. */
export function ifOpen<T>(promise: Promise<T>): Promise<T | null> {
  return nullFor(['not_found', 'run_ended'], promise);
}

async function nullFor<T>(
  codes: readonly ClientErrorCode[],
  promise: Promise<T>,
): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof PlanwaveClientError && codes.includes(error.code)) return null;
    throw error;
  }
}

/** Returns the code of an error of Node, such as `ENOENT`. Undefined when it has none. */
export function codeOf(error: unknown): unknown {
  return isRecord(error) ? error['code'] : undefined;
}
