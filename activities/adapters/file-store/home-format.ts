import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { StoreIdentity } from '../../../contracts/store.ts';
import { isRecord } from '../../../core/json.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { atomicCreateFile, atomicWriteFile, readFileInside } from './atomic-write-file.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Format of the files below an artifact home. It changes when older files can't be read any more. */
const homeFormat = 3;

const markerFile = 'home.json';

/** File with the id of a home. A copy of a home that is used beside it must get another one. */
const idFile = 'store.json';
const idBytes = 6;

/**
 * Takes an artifact home into use: marks a new one with the format of its files, and gives it an id.
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
  const lateFault = isNew ? null : await findHomeFault(home);
  if (lateFault !== null) return lateFault;
  const id = randomBytes(idBytes).toString('hex');
  // Of several workers that open a new home, one succeeds; all of them read that id.
  await atomicCreateFile(join(home, idFile), `${JSON.stringify({ id })}\n`, { root: home });
  return null;
}

/**
 * Identifies a home that was opened.
 *
 * @throws {StoreUnavailable} when it has no id: then its disk is not mounted, or it was moved away.
 */
export async function identifyHome(home: string): Promise<StoreIdentity> {
  const identity = await findHomeIdentity(home);
  if (identity !== null) return identity;
  throw new StoreUnavailable(
    `The artifact home "${home}" is gone: it has no ${idFile} (ENOENT). Nothing was read or written. ` +
      'Try: mount or restore it, or point PLANWAVE_HOME at another directory and restart the worker. The run waits and continues by itself.',
    { path: join(home, idFile), code: 'ENOENT' },
  );
}

/** Identities that were read, by home, with the stamp of their file. */
const identities = new Map<string, { readonly stamp: string; readonly identity: StoreIdentity }>();

/**
 * Returns the identity of a home; null when no worker has opened it. Every activity asks, so the file is read only when it
 * is another one than before.
 *
 * @throws {StoreUnavailable} when it can't be read.
 */
export async function findHomeIdentity(home: string): Promise<StoreIdentity | null> {
  const path = join(home, idFile);
  const stamp = stampOf(path);
  const known = identities.get(home);
  if (known !== undefined && known.stamp === stamp) return known.identity;
  const bytes = await readFileInside(home, path);
  if (bytes === null) return null;
  const ids = parseIds(bytes.toString('utf8'));
  if (ids !== null) {
    const identity = { place: `"${home}" on ${hostname()}`, ...ids };
    if (stamp !== null) identities.set(home, { stamp, identity });
    return identity;
  }
  throw new StoreUnavailable(
    `The id of the artifact home in "${path}" is damaged. Try: restore the file from a backup, or write {"id":"…"} ` +
      'with the id that its runs name (planwave status <run>). The run waits and continues by itself.',
    { path, code: null },
  );
}

/** Returns a text that differs for another file at `path`, and after each change; null when there is none to look at. */
function stampOf(path: string): string | null {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    // Reading it says what is wrong.
    return null;
  }
}

/** Notes in an opened home that stores with these ids were copied into it. */
export async function adoptIds(home: string, ids: readonly string[]): Promise<void> {
  const { id, copied = [] } = await identifyHome(home);
  const others = [...new Set([...copied, ...ids])].filter((one) => one !== id);
  const text = `${JSON.stringify({ id, ...(others.length > 0 && { copied: others }) })}\n`;
  await atomicWriteFile(join(home, idFile), text, { root: home });
}

function parseIds(text: string): Pick<StoreIdentity, 'id' | 'copied'> | null {
  try {
    const mark: unknown = JSON.parse(text);
    if (!isRecord(mark) || !isId(mark['id'])) return null;
    const { id, copied } = mark;
    return Array.isArray(copied) ? { id, copied: copied.filter(isId) } : { id };
  } catch {
    return null;
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value);
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
