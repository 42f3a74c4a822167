import { getCode } from '../file-store/store-errors.ts';

/** Reasons and cures for codes of the system and of PostgreSQL; `@` stands for the name of the setting with the address. */
const explanations = new Map<string | null, readonly [reason: string, cure: string]>([
  ['ECONNREFUSED', ['nobody listens there', 'start the server, or check @']],
  ['ECONNRESET', ['the connection was cut', 'look at the log of the server']],
  ['ENOTFOUND', ['nobody knows the host', 'check @']],
  ['EAI_AGAIN', ['names of hosts can not be looked up', 'check the network']],
  ['28P01', ['it refuses user or password', 'check @']],
  ['28000', ['it refuses the user', 'check @']],
  ['3D000', ['it has no such database', 'create it, or check @']],
  ['42501', ['the user may not do this', 'grant the user to create tables, once, and to use them']],
  ['53100', ['its disk is full', 'free some space on the disk of the server']],
  ['53300', ['it has too many connections', 'raise max_connections of the server']],
  ['57P03', ['it is starting or stopping', 'wait until it is up']],
  ['25006', ['it is read-only', 'name the primary server in @']],
]);

/** A fault of a database in words. */
export interface PostgresFault {
  /** The reason, with the code of the system or of PostgreSQL. */
  readonly reason: string;
  readonly cure: string;
  readonly code: string | null;
}

/** @param setting Name of the variable that holds the address. */
export function explainPostgres(error: unknown, setting: string): PostgresFault {
  const code = getCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const [reason, cure] =
    explanations.get(code) ??
    (/timeout/i.test(message)
      ? ['it does not answer', 'look whether the server is well, and check @']
      : [message, 'look at the server, and check @']);
  const named = code === null ? '' : ` (${code})`;
  return { reason: `${reason}${named}`, cure: cure.replaceAll('@', setting), code };
}

/**
 * Returns true when the connection is gone or the server asks for a repetition: the statement may have been carried out or
 * not. Waiting for an answer in vain is not among it, because a repetition would wait as long.
 */
export function isRepeatable(error: unknown): boolean {
  const code = getCode(error) ?? '';
  // Only answers of the server have it.
  const isAnswer = typeof error === 'object' && error !== null && 'severity' in error;
  if (isAnswer) return /^(?:08|40|57P0)/.test(code);
  return !/timeout/i.test(error instanceof Error ? error.message : '');
}

/** Returns the address in a URL without user, password and parameters. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
