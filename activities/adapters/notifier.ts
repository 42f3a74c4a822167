import { createHmac } from 'node:crypto';
import { basename } from 'node:path';
import type { NotificationBody } from '../../core/run/notify.ts';
import { isRecord } from '../../core/json.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { NotificationFailed, type Notifier } from '../ports/notifier.ts';
import { runProcess } from './sandbox/command-runner.ts';

/** Place at which a person is told. */
export type NotifyTarget =
  | {
      readonly kind: 'webhook';
      readonly url: string;
      /** Key of the signatures. */
      readonly key: Buffer;
    }
  | {
      readonly kind: 'command';
      /** Program and arguments; no shell reads them. */
      readonly argv: readonly [string, ...string[]];
      readonly env: Readonly<Record<string, string>>;
    };

/** Milliseconds that a server or a program may take for one message. */
const sendTimeoutMs = 10_000;

/** Most characters of what a program printed last. */
const outputCharsMax = 200;

/** @param timeoutMs Milliseconds for one message. Default 10,000. */
export function createNotifier(target: NotifyTarget, timeoutMs = sendTimeoutMs): Notifier {
  return {
    send: (message, signal) =>
      target.kind === 'webhook'
        ? post(target, message, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
        : run(target, message, timeoutMs, signal),
  };
}

type Webhook = Extract<NotifyTarget, { kind: 'webhook' }>;

/** Redirects are not followed: the message is for the address that the operator named. */
async function post({ url, key }: Webhook, message: NotificationBody, signal: AbortSignal) {
  const body = JSON.stringify(message);
  const { host } = new URL(url);
  let status: number;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signBody(key, message.id, body) },
      body,
      redirect: 'manual',
      signal,
    });
    ({ status } = response);
    await response.body?.cancel();
  } catch (error) {
    throw new NotificationFailed(`the webhook at ${host} does not answer: ${reasonOf(error)}`);
  }
  if (status < 200 || status > 299)
    throw new NotificationFailed(`the webhook at ${host} answered ${status}`);
}

/** Returns the code of a fault of the system, which names no address. */
function reasonOf(error: unknown): string {
  const { name, code, message, cause } = readFault(error);
  if (name === 'TimeoutError') return 'it took too long';
  return String(code ?? readFault(cause)['code'] ?? message ?? error);
}

function readFault(error: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(error)) return {};
  const { name, code, message, cause } = error;
  return { name, code: typeof code === 'string' ? code : undefined, message, cause };
}

/**
 * Returns the headers of the Standard Webhooks specification: the signature covers id, time and body.
 *
 * @param atSeconds Unix epoch seconds of the attempt. Default: now.
 */
export function signBody(
  key: Buffer,
  id: string,
  body: string,
  atSeconds = Math.floor(Date.now() / 1_000),
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signature = createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': `v1,${signature}`,
  };
}

type Command = Extract<NotifyTarget, { kind: 'command' }>;

/** The program gets the message as one line of JSON on its standard input. */
async function run(
  { argv: [file, ...args], env }: Command,
  message: NotificationBody,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const folder = process.cwd();
  const stdin = `${JSON.stringify(message)}\n`;
  const name = basename(file);
  const { ending, exit_code, output } = await runProcess(
    { file, args, cwd: folder, env, stdin, timeoutMs, folder },
    signal,
  ).catch((error: unknown) => {
    throw new NotificationFailed(`the command ${name} can't be run: ${reasonOf(error)}`);
  });
  if (exit_code === 0) return;
  if (ending === 'timeout')
    throw new NotificationFailed(`the command ${name} took longer than ${timeoutMs / 1_000} s`);
  const how = exit_code === null ? `was ended (${ending})` : `ended with ${exit_code}`;
  const last = cleanLine(output.trim().split('\n').at(-1) ?? '', outputCharsMax);
  throw new NotificationFailed(`the command ${name} ${how}${last === '' ? '' : `: ${last}`}`);
}
