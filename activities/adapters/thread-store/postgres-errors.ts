import { ThreadUnavailable } from '../../ports/thread-store.ts';
import { getCode } from '../file-store/store-errors.ts';

const checkUrl = 'check PLANWAVE_THREADS_URL';

/** Reasons and cures for codes of the system and of PostgreSQL. */
const explanations = new Map<string, readonly [reason: string, cure: string]>([
  ['ECONNREFUSED', ['nobody listens there', `start the server, or ${checkUrl}`]],
  ['ECONNRESET', ['the connection was cut', 'look at the log of the server']],
  ['ENOTFOUND', ['nobody knows the host', checkUrl]],
  ['EAI_AGAIN', ['names of hosts can not be looked up', 'check the network']],
  ['28P01', ['it refuses user or password', checkUrl]],
  ['28000', ['it refuses the user', checkUrl]],
  ['3D000', ['it has no such database', `create it, or ${checkUrl}`]],
  ['42501', ['the user may not do this', 'grant the user to create tables, once, and to use them']],
  ['53300', ['it has too many connections', 'raise max_connections of the server']],
  ['57P03', ['it is starting or stopping', 'wait until it is up']],
  ['25006', ['it is read-only', 'name the primary server in PLANWAVE_THREADS_URL']],
]);

/** Matches pg's message for a timeout, which has no code. */
const silence = /timeout/i;

/** Converts a failed use of the database to an error for people. */
export function explainPostgresError(
  doing: 'read' | 'write',
  url: string,
  error: unknown,
): ThreadUnavailable {
  if (error instanceof ThreadUnavailable) return error;
  const code = getCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const [reason, cure] =
    explanations.get(code ?? '') ??
    (silence.test(message)
      ? ['it does not answer', `look whether the server is well, and ${checkUrl}`]
      : [message, `look at the server, and ${checkUrl}`]);
  const named = code === null ? '' : ` (${code})`;
  return new ThreadUnavailable(
    `Can't ${doing} the threads at ${addressOf(url)}: ${reason}${named}. Try: ${cure}.`,
    { cause: error },
  );
}

/** Returns the address in a URL without user and password. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
