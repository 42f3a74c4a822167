import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../core/is-record.ts';
import { atomicCreateFile, readFileInside } from './atomic-write-file.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Format of the files below an artifact home. It changes when older files can't be read any more. */
const homeFormat = 2;

const markerFile = 'home.json';

/**
 * Takes an artifact home into use: marks a new one with the format of its files.
 *
 * @returns why this planwave can't use the home, with a cure; null when it can.
 * @throws {StoreUnavailable} when the home can't be read or written.
 */
export async function openHome(home: string): Promise<string | null> {
  const fault = await findHomeFault(home);
  if (fault !== null) return fault;
  const text = `${JSON.stringify({ format: homeFormat })}\n`;
  // Another worker may have marked it in between, perhaps one of another version.
  const isNew = await atomicCreateFile(join(home, markerFile), text, { root: home });
  return isNew ? null : findHomeFault(home);
}

/**
 * Returns why this planwave can't use the home, with a cure; null when it can, or when the home is new.
 *
 * @throws {StoreUnavailable} when the home can't be read.
 */
export async function findHomeFault(home: string): Promise<string | null> {
  const format = await readFormat(home);
  if (format === homeFormat || (format === undefined && !(await hasRuns(home)))) return null;
  const known =
    format === null ? 'a damaged mark of its format' : `format ${JSON.stringify(format)}`;
  const found = format === undefined ? 'no mark of its format' : known;
  return (
    `The artifact home "${home}" has ${found}; this planwave reads and writes format ${homeFormat}. ` +
    'Try: the planwave that wrote it, or another folder in PLANWAVE_HOME'
  );
}

/** Returns undefined when the home has no mark, null for a damaged one. */
async function readFormat(home: string): Promise<unknown> {
  const bytes = await readFileInside(home, join(home, markerFile));
  if (bytes === null) return undefined;
  try {
    const mark: unknown = JSON.parse(bytes.toString('utf8'));
    return isRecord(mark) ? (mark['format'] ?? null) : null;
  } catch {
    return null;
  }
}

/** Returns true when runs were recorded. */
async function hasRuns(home: string): Promise<boolean> {
  const refs = join(home, 'refs');
  try {
    return (await readdir(refs)).length > 0;
  } catch (error) {
    if (getCode(error) === 'ENOENT') return false;
    throw toStoreUnavailable('read', refs, error);
  }
}
