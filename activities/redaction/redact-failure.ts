import type { Redactor } from '../ports/redactor.ts';

/** Most causes that are kept: the origin of a failure is near its top. */
const causesMax = 10;

/**
 * Takes secrets out of the texts of an error and of its causes. Temporal stores these texts in history outside of
 * payloads, where no codec sees them. The error is changed in place, because its class decides how the engine handles
 * it.
 *
 * @returns the error, or the redacted text when a text was thrown.
 */
export function redactFailure(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof Error)) {
    return typeof error === 'string' ? redactor.redactText(error, 'failure') : error;
  }
  let at: Error = error;
  for (let depth = 1; ; depth += 1) {
    redactTexts(at, redactor);
    const { cause } = at;
    if (cause === undefined || cause === null) return error;
    if (!(cause instanceof Error) || depth === causesMax) {
      Object.assign(at, { cause: undefined });
      return error;
    }
    at = cause;
  }
}

function redactTexts(error: Error, redactor: Redactor): void {
  const message = redactor.redactText(error.message, 'failure');
  // The stack begins with the message; a redacted message is counted once.
  const stack = error.stack?.replaceAll(error.message, () => message);
  const texts = { message, stack: stack && redactor.redactText(stack, 'failure') };
  if (message !== error.message || texts.stack !== error.stack) Object.assign(error, texts);
}
