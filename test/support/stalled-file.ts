import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface StalledFile {
  /** Gives this text to the waiting reader. Resolves when it was read. */
  release(text: string): Promise<void>;
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
