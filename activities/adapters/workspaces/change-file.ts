import { link, lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { WorkspaceRefused, type ChangeTerms } from '../../ports/workspaces.ts';
import {
  atomicWriteFile,
  leftoverPrefix,
  temporaryPathOf,
  temporarySuffix,
} from '../file-store/atomic-write-file.ts';
import { syncDirectory } from '../file-store/confinement.ts';
import { getCode } from '../file-store/store-errors.ts';
import { toRefusal, type OpenFolder } from './open-folder.ts';

/** A file in its open folder. */
export interface FilePlace {
  readonly folder: OpenFolder;
  readonly name: string;
  /** The path as the model wrote it. */
  readonly shown: string;
}

/** @param terms `mayStill`: called right before the change. Its error is passed on, and nothing has changed. */
export async function replaceFile(
  { folder, name, shown }: FilePlace,
  bytes: Uint8Array,
  terms: Pick<ChangeTerms, 'mayStill' | 'mode'>,
): Promise<void> {
  try {
    await removeLeftovers(folder, name);
    await atomicWriteFile(join(folder.path, name), bytes, { ...terms, access: 'shared' });
  } catch (error) {
    throw error instanceof StoreUnavailable ? toRefusal(shown, 'written', error) : error;
  }
}

/** Removes what killed writers of a file left. One that is still at work then fails: its attempt has been replaced. */
async function removeLeftovers(folder: OpenFolder, name: string): Promise<void> {
  const isLeft = (entry: string): boolean =>
    entry.startsWith(`${leftoverPrefix(name)}-`) && entry.endsWith(temporarySuffix);
  const left = folder.entries().filter((entry) => entry.isFile() && isLeft(entry.name));
  await Promise.all(left.map((entry) => rm(join(folder.path, entry.name), { force: true })));
}

/**
 * Removes a file, but not one that came into its place after `mayStill`: the process may have been suspended in between, and
 * its work done by another one.
 *
 * @param mayStill Defined in `replaceFile`.
 */
export async function removeFile(
  { folder, name, shown }: FilePlace,
  mayStill: () => Promise<void>,
): Promise<void> {
  const place = join(folder.path, name);
  const aside = temporaryPathOf(place);
  // Open, it keeps its number, so no later file gets the same.
  const file = folder.openFile(name);
  try {
    await mayStill();
    await inWords(shown, async () => {
      await rename(place, aside);
      const isIt = (await lstat(aside)).ino === file?.ino;
      if (!isIt) await putBack(aside, place);
      await rm(aside, { force: true });
      await syncDirectory(folder.path);
      if (!isIt) throw refuseChanged(shown);
    });
  } finally {
    file?.close();
  }
}

async function inWords(shown: string, work: () => Promise<void>): Promise<void> {
  return work().catch((error: unknown) => {
    throw toRefusal(shown, 'removed', error);
  });
}

/** Gives a file its name back, unless a newer one has it. */
async function putBack(aside: string, place: string): Promise<void> {
  await link(aside, place).catch((error: unknown) => {
    if (getCode(error) !== 'EEXIST') throw error;
  });
}

export function refuseChanged(shown: string): WorkspaceRefused {
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} has changed since it was looked at, so nothing was done. Try: read it again.`,
  );
}

export function refuseIgnored(shown: string): WorkspaceRefused {
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} is ignored by git, so it would be in no result of this run. Nothing was written. Try: another path.`,
  );
}
