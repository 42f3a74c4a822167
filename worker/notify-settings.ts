import { parseJson } from '../core/json.ts';
import { z } from 'zod';
import type { NotifyTarget } from '../activities/adapters/notifier.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';

const expected =
  'https:// and a host (http:// only on this machine), or a command of a program and its arguments. ' +
  'It is not shown here, because it may hold a secret. Try: https://hooks.example.com/planwave, or ' +
  '["/usr/local/bin/tell-me","--channel","runs"]';

/** Variables of notifications, each with what is expected of it. */
export const notifyVariables = {
  PLANWAVE_NOTIFY: z
    .string()
    .transform((text, context) => {
      const target = isAddress(text) ? readUrl(text) : readCommand(text);
      if (target !== null) return target;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    })
    .optional(),
  PLANWAVE_NOTIFY_SECRET: z
    .string()
    .regex(
      /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
      'whsec_ and 24 to 64 bytes in Base64. It is not shown here. Try: echo "whsec_$(openssl rand -base64 32)"',
    )
    .transform((text) => Buffer.from(text.slice('whsec_'.length), 'base64'))
    .optional(),
};

type NotifyVariables = z.infer<z.ZodObject<typeof notifyVariables>>;

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function readUrl(text: string): { readonly url: string } | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, username, password, href } = new URL(text);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isHere);
  return isSafe && username === '' && password === '' ? { url: href } : null;
}

/** Reads a JSON list of words, or words between blanks. */
function readCommand(text: string): { readonly argv: readonly [string, ...string[]] } | null {
  const words: unknown = text.trimStart().startsWith('[')
    ? parseJson(text)
    : text.trim().split(/\s+/);
  const read = z.tuple([z.string().min(1)], z.string()).safeParse(words);
  return read.success && read.data.every((word) => !word.includes('\0'))
    ? { argv: read.data }
    : null;
}

/** Returns what is wrong with settings that are right one by one, and a cure; null when nothing is. */
export function findNotifyFault(read: NotifyVariables): string | null {
  const { PLANWAVE_NOTIFY: target, PLANWAVE_NOTIFY_SECRET: key } = read;
  if (target === undefined || !('url' in target) || key !== undefined) return null;
  return (
    'PLANWAVE_NOTIFY is a webhook and needs PLANWAVE_NOTIFY_SECRET, which signs its messages.\n' +
    'Try: export PLANWAVE_NOTIFY_SECRET="whsec_$(openssl rand -base64 32)", and give the receiver the same.'
  );
}

/** @param env Environment of the worker. A command gets it without the worker's secrets. */
export function toNotifyTarget(
  { PLANWAVE_NOTIFY: target, PLANWAVE_NOTIFY_SECRET: key }: NotifyVariables,
  env: NodeJS.ProcessEnv,
): NotifyTarget | undefined {
  if (target === undefined) return undefined;
  if ('url' in target) return { kind: 'webhook', ...target, key: key ?? Buffer.alloc(0) };
  return { kind: 'command', ...target, env: withoutSecrets(env) };
}

function withoutSecrets(env: NodeJS.ProcessEnv): Record<string, string> {
  const secrets = collectOwnSecrets(env);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || secrets.some((secret) => value.includes(secret))
        ? []
        : [[name, value]],
    ),
  );
}
