import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { toRunDirectory } from '../../projection/paths.ts';
import { atomicCreateFile } from '../file-store/atomic-write-file.ts';
import { hashBytes } from '../../text/bytes.ts';

/** Notes of what runs have written: one empty file for each run, path and content, below `<home>/written`. */
export interface WrittenFiles {
  has(runId: string, path: string, sha256: string): Promise<boolean>;
  /** @throws {StoreUnavailable} */
  add(runId: string, path: string, sha256: string): Promise<void>;
}

export function openWritten(home: string): WrittenFiles {
  const noteOf = (runId: string, path: string, sha256: string): string => {
    const name = hashBytes(`${path}\n${sha256}`);
    return join(home, 'written', toRunDirectory(runId), name);
  };
  return {
    has: (...note) =>
      lstat(noteOf(...note)).then(
        (found) => found.isFile(),
        () => false,
      ),
    async add(...note) {
      await atomicCreateFile(noteOf(...note), '', { root: home });
    },
  };
}
