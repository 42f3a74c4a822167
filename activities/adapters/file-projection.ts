import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { toRunDirectory } from '../projection/paths.ts';
import { atomicWriteFile } from './file-store/atomic-write-file.ts';
import { checkInside } from './file-store/confinement.ts';
import { getCode, toStoreUnavailable } from './file-store/store-errors.ts';

/** Names that `projection/paths.ts` builds. None begins or ends with a dot, so none is `.` or `..`. */
const segment = /^[a-z0-9][a-z0-9_~-]*(?:\.[a-z0-9][a-z0-9_~-]*)*$/;

/**
 * The readable trees of runs as files, `<home>/<run directory>/…`.
 *
 * FP1. Nothing outside `<home>/<run directory>` is written or removed, whatever run_id and path say.
 * FP2. A reader sees an old file or a new one, whole.
 */
export function createFileProjection(options: { readonly home: string }): ProjectionWriter {
  const { home } = options;
  const toPath = (runId: string, relativePath: string): string => {
    const segments = relativePath.split('/');
    const path = join(home, toRunDirectory(runId), ...segments);
    if (segments.every((one) => segment.test(one))) return path;
    throw new StoreUnavailable(
      `${JSON.stringify(relativePath)} is no path of a run's tree and is not touched.`,
      { path, code: null },
    );
  };
  /** Returns false for a file whose text is to stay. */
  const mayChange = async (path: string, mayGo?: (text: string) => boolean): Promise<boolean> => {
    if (mayGo === undefined) return true;
    try {
      checkInside(home, path);
      return mayGo(await readText(path));
    } catch (error) {
      throw toStoreUnavailable('write', path, error);
    }
  };
  return {
    async write(runId, relativePath, text, { mayStill, mayReplace } = {}) {
      const path = toPath(runId, relativePath);
      if (await mayChange(path, mayReplace)) {
        await atomicWriteFile(path, text, { root: home, mayStill });
      }
    },
    async remove(runId, relativePath, mayGo) {
      const path = toPath(runId, relativePath);
      if (!(await mayChange(path, mayGo))) return;
      try {
        checkInside(home, path);
        await rm(path, { force: true });
      } catch (error) {
        throw toStoreUnavailable('write', path, error);
      }
    },
    rootOf: toRunDirectory,
  };
}

/** @returns the empty text for a file that is missing. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (getCode(error) === 'ENOENT') return '';
    throw error;
  }
}
