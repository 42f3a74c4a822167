import { spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
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
 * Lets everything that a worker of this process stores wait before its flush, as on a disk that hangs.
 *
 * @returns a function that ends it.
 */
export async function stallStore(): Promise<() => void> {
  const handle = await open(devNull);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const real: FileHandle['datasync'] = Reflect.get(prototype, 'datasync');
  const released = new EventEmitter();
  const isReleased = once(released, 'released');
  prototype.datasync = async function late(this: FileHandle) {
    await isReleased;
    return real.call(this);
  };
  return () => {
    prototype.datasync = real;
    released.emit('released');
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
