import { StringDecoder } from 'node:string_decoder';
import type { Redactor } from '../activities/ports/redactor.ts';
import type { Recorder } from '../core/metrics/create-recorder.ts';
import { metrics } from '../core/metrics/metrics.ts';

/** Characters after which an unfinished line is printed. No line of the log is as long. */
const lineCharsMax = 1_000_000;

/**
 * Redacts all that a stream prints from now on: the log, warnings, and what a crash says. Lines are printed whole, so that
 * a secret is also found when it comes in several writes.
 *
 * @param stream such as `process.stderr`; its `write` is replaced.
 * @returns Prints the unfinished line. To be called when the process exits.
 */
export function redactOutput(stream: NodeJS.WritableStream, redactor: Redactor): () => void {
  // Its two overloads differ in what may follow the chunk, which goes on as it came.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const write = stream.write.bind(stream) as Write;
  const decoder = new StringDecoder('utf8');
  let unfinished = '';
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    const text =
      unfinished + (typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)));
    const end = text.length > lineCharsMax ? text.length : text.lastIndexOf('\n') + 1;
    unfinished = text.slice(end);
    return write(redactor.redactText(text.slice(0, end), 'output'), ...rest);
  };
  return () => {
    write(redactor.redactText(unfinished, 'output'));
    unfinished = '';
  };
}

type Write = (chunk: Uint8Array | string, ...rest: unknown[]) => boolean;

/**
 * Creates the function that a redactor calls for each finding.
 *
 * @returns a function of the rule, the destination and the number of findings. It never gets the secret.
 */
export function createRedactionCounter(
  recorder: Recorder,
): (rule: string, sink: string, count: number) => void {
  return (rule, sink, count) => recorder.count(metrics.redactions, { rule, sink }, count);
}
