import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicCreateFile, readFileInside } from './atomic-write-file.ts';
import { checkInside } from './confinement.ts';
import { getCode, toStoreUnavailable } from './store-errors.ts';

/** Nothing is written nearly as often; it keeps numbers exact. */
const versionFile = /^([1-9]\d{0,14})\.json$/;

export interface NewestVersion {
  /** Null when there is none, and when something other than a file stands there. */
  readonly text: string | null;
  /** 0 when there is none. */
  readonly version: number;
}

/**
 * A text that is replaced only by who has read it: a folder with a file for each version, `<folder>/<version>.json`, of
 * which the highest counts. A version is created and never changed, so that a writer who was suspended finds its own taken,
 * or the highest beyond it.
 */
export interface VersionedFile {
  /** @throws {StoreUnavailable} */
  readNewest(): Promise<NewestVersion>;
  /**
   * @param after the version that was read.
   * @returns false when somebody else has written since. Then the newest is theirs.
   * @throws {StoreUnavailable}
   */
  writeNext(text: string, after: number): Promise<boolean>;
}

/**
 * @param home no folder between this one and the file may be a link.
 * @param folder absolute.
 */
export function openVersionedFile(home: string, folder: string): VersionedFile {
  const pathOf = (version: number): string => join(folder, `${version}.json`);
  const list = () => listVersions(home, folder);
  return {
    async readNewest() {
      for (;;) {
        const version = (await list()).at(-1) ?? 0;
        if (version === 0) return { text: null, version };
        const bytes = await readFileInside(home, pathOf(version));
        if (bytes !== null) return { text: bytes.toString('utf8'), version };
        // Replaced since it was listed, or no file at all.
        const isNewest = (await list()).at(-1) === version;
        if (isNewest) return { text: null, version };
      }
    },
    async writeNext(text, after) {
      const version = after + 1;
      if (!(await atomicCreateFile(pathOf(version), text, { root: home }))) return false;
      const versions = await list();
      // Below the highest it counts for nothing, and neither do the older ones.
      await Promise.all(
        versions.slice(0, -1).map((older) => rm(pathOf(older), { force: true })),
      ).catch((error: unknown) => {
        throw toStoreUnavailable('write', folder, error);
      });
      return versions.at(-1) === version;
    },
  };
}

/** The highest last. */
async function listVersions(home: string, folder: string): Promise<number[]> {
  try {
    await checkInside(home, join(folder, 'version'));
    const versions = (await readdir(folder)).flatMap((file) => versionFile.exec(file)?.[1] ?? []);
    return versions.map(Number).toSorted((a, b) => a - b);
  } catch (error) {
    if (getCode(error) === 'ENOENT') return [];
    throw toStoreUnavailable('read', folder, error);
  }
}
