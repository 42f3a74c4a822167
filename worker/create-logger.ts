import { inspect } from 'node:util';
import { StringDecoder } from 'node:string_decoder';
import { DefaultLogger, type LogEntry, type LogLevel } from '@temporalio/worker';
import { readPlace } from '../core/ids.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import type { Recorder } from '../core/metrics/create-recorder.ts';
import { metrics } from '../core/metrics/metrics.ts';
import { framesOf } from '../core/text/stack-frames.ts';

/** Settings of `PLANWAVE_LOG` and `PLANWAVE_LOG_LEVEL`. */
export interface LogSettings {
  readonly format: 'text' | 'json';
  readonly level: LogLevel;
  /** True with `PLANWAVE_KEYS`: messages of errors may quote content, which is encrypted everywhere else. Default: false. */
  readonly hidesErrors?: boolean;
}

/** Fields of the SDK that do not help: equal in every line, or the key to a task. */
const dropped = new Set(['isLocal', 'namespace', 'sdkComponent', 'taskQueue', 'taskToken']);

/** Most characters of one text in a line, a stack included. */
const textCharsMax = 4_000;

/**
 * Creates the log of a worker process, on standard error: of its workflows, its activities and the SDK. Every line
 * names its run, wave, delegation and turn, if it has one.
 */
export function createLogger(settings: LogSettings): DefaultLogger {
  return new DefaultLogger(
    settings.level,
    (entry) => void process.stderr.write(`${formatLogEntry(settings, entry)}\n`),
  );
}

export function formatLogEntry(
  { format, hidesErrors = false }: Pick<LogSettings, 'format' | 'hidesErrors'>,
  entry: LogEntry,
): string {
  const shown = hidesErrors ? hideErrors(entry) : entry;
  return format === 'json' ? formatJson(shown) : formatText(shown);
}

/** Errors whose messages hold paths and ids of keys, and no content. */
const plainTypes: ReadonlySet<string> = new Set(['CannotDecrypt', 'StoreUnavailable', 'Blocked']);

function hideErrors(entry: LogEntry): LogEntry {
  const fields = Object.entries(entry.meta ?? {}).map(
    ([name, value]) => [name, value instanceof Error ? hideMessage(value) : value] as const,
  );
  return { ...entry, meta: Object.fromEntries(fields) };
}

/** Keeps the type of an error and the places in the code. */
function hideMessage(error: Error): object {
  const { type, message, stack } = describeError(error);
  if (plainTypes.has(type)) return { type, message, stack };
  return { type, message: '(encrypted: the history has it)', stack: framesOf(stack) };
}

/** Formats one JSON object without line breaks. */
export function formatJson(entry: LogEntry): string {
  const { message, level } = entry;
  const fields = { time: timeOf(entry), level: level.toLowerCase(), message, ...fieldsOf(entry) };
  return JSON.stringify(fields, (_key, value: unknown) => toPlain(value));
}

/** Formats an entry for people: the fields in Node's notation for objects. */
export function formatText(entry: LogEntry): string {
  const fields = fieldsOf(entry);
  const shown = Object.keys(fields).length === 0 ? '' : ` ${inspect(fields, { depth: 4 })}`;
  return `${timeOf(entry)} [${entry.level}] ${entry.message}${shown}`;
}

function timeOf({ timestampNanos }: LogEntry): string {
  return new Date(Number(timestampNanos / 1_000_000n)).toISOString();
}

function fieldsOf({ meta = {} }: LogEntry): Record<string, unknown> {
  const { workflowId, workflow_id: nativeId, ...rest } = meta;
  const id = workflowId ?? nativeId;
  const type: unknown = rest['workflowType'];
  const place = typeof id === 'string' ? readPlace(id, typeof type === 'string' ? type : null) : {};
  const fields = Object.entries(rest).filter(([name]) => !dropped.has(name));
  return { ...place, ...Object.fromEntries(fields.map(([name, value]) => [name, clean(value)])) };
}

/** Keeps type, message and stack of an error, because its details may hold data that was sent out. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  return value instanceof Error ? describeError(value) : value;
}

function describeError(error: Error): {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
} {
  const type = 'type' in error && typeof error.type === 'string' ? error.type : error.name;
  return { type, message: cut(error.message), stack: cut(error.stack ?? '') };
}

function cut(text: string): string {
  return text.length <= textCharsMax ? text : `${text.slice(0, textCharsMax)}…`;
}

/** Converts values that JSON can't represent. */
function toPlain(value: unknown): unknown {
  return typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : value;
}

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
