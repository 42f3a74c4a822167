import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ThreadUnavailable } from '../../ports/thread-store.ts';
import { explainCode, getCode } from '../file-store/store-errors.ts';

const elsewhere = 'or name a PostgreSQL database by PLANWAVE_THREADS_URL';

/** Reasons and cures for SQLite's codes, by prefix. */
const explanations: readonly (readonly [code: RegExp, reason: string, cure: string])[] = [
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    'the file is damaged',
    'move it away; threads begin anew, runs lose nothing else',
  ],
  [
    /^SQLITE_(?:BUSY|LOCKED)/,
    'another process has been writing to it for seconds',
    `look for a process that was stopped in the middle, ${elsewhere}`,
  ],
  [/^SQLITE_FULL/, 'the disk is full', `free some space, ${elsewhere}`],
  [/^SQLITE_READONLY/, 'it is read-only', `let the worker's user write it, ${elsewhere}`],
  [/^SQLITE_IOERR/, 'the disk reports a fault', `check the disk, ${elsewhere}`],
];

/** Returns true when another process holds the file at this moment. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/.test(getCode(error) ?? '');
}

/** Converts a failed use of the file to an error for people. */
export async function explainSqliteError(
  doing: 'read' | 'write',
  file: string,
  error: unknown,
): Promise<ThreadUnavailable> {
  if (error instanceof ThreadUnavailable) return error;
  const code = getCode(error) ?? '';
  const [, ...known] = explanations.find(([form]) => form.test(code)) ?? [];
  const [reason, cure] = known[0] === undefined ? await askSystem(file, error) : known;
  const named = code === '' ? '' : ` (${code})`;
  return new ThreadUnavailable(
    `Can't ${doing} the threads in "${file}": ${reason}${named}. Try: ${cure}.`,
    { cause: error },
  );
}

/** Asks the system why the file can't be opened, because SQLite does not say. */
async function askSystem(file: string, error: unknown): Promise<readonly [string, string]> {
  const refusal =
    explainCode(getCode(error)) ??
    (await access(dirname(file), constants.W_OK).then(
      () => null,
      (refused: unknown) => explainCode(getCode(refused)),
    ));
  const message = error instanceof Error ? error.message : String(error);
  return refusal ?? [message, `check the file, ${elsewhere}`];
}
