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
  return {
    write: async (runId, relativePath, text, mayStill) =>
      atomicWriteFile(toPath(runId, relativePath), text, { root: home, mayStill }),
    remove: async (runId, relativePath, mayGo) => {
      const path = toPath(runId, relativePath);
      try {
        checkInside(home, path);
        if (mayGo !== undefined && !mayGo(await readText(path))) return;
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
