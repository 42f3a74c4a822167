import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  asideSuffix,
  listSegments,
  segmentSuffix,
} from '../../activities/adapters/file-store/segment-files.ts';

export interface StalledFile {
  /** Gives this text to the waiting reader. Resolves when it was read. */
  release(text: string): Promise<void>;
}

/**
 * Lets everything that a home's process stores next wait, as on a disk that hangs. What is stored can be read.
 *
 * @returns a function that ends it.
 */
export async function stallStore(home: string): Promise<() => Promise<void>> {
  // Until the process has closed its segment: it opens it again, and waits.
  await sleep(500);
  const segments = (await listSegments(home)) ?? [];
  const pipes = segments.flatMap(({ path }) => {
    if (!path.endsWith(segmentSuffix)) return [];
    renameSync(path, path.replace(segmentSuffix, asideSuffix));
    stallFile(path);
    return [path];
  });
  return async () => {
    for (const path of pipes) {
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      await sleep(200);
      closeSync(reader);
      rmSync(path);
    }
  };
}

/** Puts a pipe in place of a file: as on a disk that hangs, every reader waits until `release`. */
export function stallFile(path: string): StalledFile {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  const { status, stderr } = spawnSync('mkfifo', [path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mkfifo ${path}: ${stderr}`);
  // Opening a pipe for writing waits for a reader.
  return { release: (text) => writeFile(path, text, { flag: 'a' }) };
}
