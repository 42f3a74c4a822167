import type { Redactor } from '../activities/ports/redactor.ts';

/**
 * Redacts all that a stream prints from now on: the log, warnings, and what a crash says.
 *
 * @param stream such as `process.stderr`; its `write` is replaced.
 */
export function redactOutput(stream: NodeJS.WritableStream, redactor: Redactor): void {
  // Its two overloads differ in what may follow the chunk, which goes on as it came.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const write = stream.write.bind(stream) as Write;
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const redacted = redactor.redactText(text, 'output');
    return write(redacted === text ? chunk : redacted, ...rest);
  };
}

type Write = (chunk: Uint8Array | string, ...rest: unknown[]) => boolean;
