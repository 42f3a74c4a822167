import { constants, closeSync, fchmod, lstatSync, openSync, readdirSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashBytes } from '../../text/bytes.ts';
import {
  atomicCreateFile,
  readFileInside,
  removeName,
  temporarySuffix,
} from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Writes a JSON value as a text whose integrity can be checked: a line with the SHA-256 of the rest, then the JSON. */
export function sealJson(value: unknown): string {
  const body = `${JSON.stringify(value)}\n`;
  return `${hashBytes(body)}\n${body}`;
}

/** @returns the value, or undefined when the text is torn or damaged. */
export function openSealed(text: string): unknown {
  const [hash = ''] = text.split('\n', 1);
  const body = text.slice(hash.length + 1);
  return hashBytes(body) === hash ? (JSON.parse(body) as unknown) : undefined;
}

/** Matches file names of versions. 15 digits keep numbers exact, and no file is written so often. */
const versionFile = /^([1-9]\d{0,14})\.json$/;

/** Permissions of a version on which a writer has built. */
const markedMode = 0o400;
const changeMode = promisify(fchmod);

/** Nothing is read: a link is not followed, and a pipe in the place of a file does not hold the writer up. */
const markFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function isMarked({ mode }: Stats): boolean {
  return (mode & 0o777) === markedMode;
}

/** Another writer has replaced the version that was read. */
class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

export interface NewestVersion {
  /** Null when there is none, and when the entry is not a file. */
  readonly text: string | null;
  /** 0 when there is none. */
  readonly version: number;
}

/**
 * A text that only a reader of its newest version can replace: a folder with a file for each version,
 * `<folder>/<version>.json`, of which the highest counts. A version is created and never changed, so a writer that was
 * suspended finds its own taken, or a higher one. Before a writer builds on a version, it takes the right to write away from
 * that file, so that its author, who then finds a higher one, knows that the own one counts.
 */
export interface VersionedFile {
  /** @throws {StoreUnavailable} */
  readNewest(): Promise<NewestVersion>;
  /**
   * @param after The version that was read.
   * @returns false when another writer has written since. Then the newest is theirs.
   * @throws {StoreUnavailable}
   */
  writeNext(text: string, after: number): Promise<boolean>;
}

/**
 * @param home No folder between this one and the file may be a link.
 * @param folder An absolute path.
 */
export function openVersionedFile(home: string, folder: string): VersionedFile {
  const pathOf = (version: number): string => join(folder, `${version}.json`);
  /** Lists in the thread pool, so that a loop of reads leaves the thread to others. */
  const list = async (): Promise<readonly number[]> => {
    try {
      checkInside(home, pathOf(1));
      return versionsOf(await readdir(folder));
    } catch (error) {
      if (getCode(error) === 'ENOENT') return [];
      throw toStoreUnavailable('read', folder, error);
    }
  };
  /**
   * Marks the version that was read, before another one is built on it. Its folders were checked.
   *
   * @throws {Overtaken} when there is a higher one.
   */
  const markRead = async (version: number): Promise<void> => {
    if (version === 0) return;
    try {
      const fd = openSync(pathOf(version), markFlags);
      try {
        // What was opened while it was the highest is what was read: a late writer creates its file below a higher one.
        if (versionsOf(readdirSync(folder)).at(-1) !== version) throw new Overtaken();
        await changeMode(fd, markedMode);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (error instanceof Overtaken) throw error;
      const code = getCode(error);
      if (code === 'ENOENT') throw new Overtaken();
      // A link instead of a file has no author who would look for the mark.
      if (code !== 'ELOOP') throw toStoreUnavailable('write', folder, error);
    }
  };
  return {
    async readNewest() {
      let version = (await list()).at(-1) ?? 0;
      for (;;) {
        if (version === 0) return { text: null, version };
        const bytes = await readFileInside(home, pathOf(version));
        // A late writer may have created its file in the place of one that was replaced and removed.
        const newest = (await list()).at(-1) ?? 0;
        if (newest === version) return { text: bytes?.toString('utf8') ?? null, version };
        version = newest;
      }
    },
    async writeNext(text, after) {
      const version = after + 1;
      let counts = true;
      const onCreated = async (secondName: string): Promise<void> => {
        const names = await readdir(folder);
        const versions = versionsOf(names);
        // A higher one was written by a reader of this one, or while this writer was suspended.
        if (versions.at(-1) !== version) counts = isMarked(await stat(secondName));
        // A version below the highest is ignored, and so are the older ones.
        await Promise.all(versions.slice(0, -1).map((older) => removeName(pathOf(older))));
        await removeLeftovers(folder, names);
      };
      try {
        const options = { root: home, mayStill: () => markRead(after), onCreated };
        return (await atomicCreateFile(pathOf(version), text, options)) && counts;
      } catch (error) {
        if (error instanceof Overtaken) return false;
        throw error;
      }
    },
  };
}

/** Milliseconds after which a temporary file has no writer any more. */
const leftAfterMs = 3_600_000;

/** Removes what killed writers have left: in a folder of many files, a system may list neither a version nor its successor. */
async function removeLeftovers(folder: string, names: readonly string[]): Promise<void> {
  const temporary = names.filter((name) => name.endsWith(temporarySuffix));
  await Promise.all(
    temporary.map(async (name) => {
      const path = join(folder, name);
      const found = lstatSync(path, { throwIfNoEntry: false });
      const isLeft = found !== undefined && Date.now() - found.mtimeMs > leftAfterMs;
      if (isLeft) await rm(path, { force: true });
    }),
  );
}

/** Returns the versions, highest last. */
function versionsOf(names: readonly string[]): number[] {
  const versions = names.flatMap((name) => versionFile.exec(name)?.[1] ?? []);
  return versions.map(Number).toSorted((a, b) => a - b);
}
