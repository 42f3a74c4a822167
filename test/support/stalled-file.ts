import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname } from 'node:path';

export interface StalledFile {
  /** Gives this text to the waiting reader. Resolves when it was read. */
  release(text: string): Promise<void>;
}

/**
 * Lets a worker of this process find no room on its disk for one text, but for all others.
 *
 * @returns a function that ends it.
 */
export async function refuseText(text: string): Promise<() => void> {
  const handle = await open(devNull);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const real: FileHandle['write'] = Reflect.get(prototype, 'write');
  Reflect.set(
    prototype,
    'write',
    function write(this: FileHandle, data: Buffer, ...rest: number[]) {
      if (!data.includes(text)) return Reflect.apply(real, this, [data, ...rest]);
      return Promise.reject(Object.assign(new Error('made by the test'), { code: 'ENOSPC' }));
    },
  );
  return () => {
    prototype.write = real;
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
