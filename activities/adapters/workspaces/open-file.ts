import { closeSync, constants, fstatSync, lstatSync, openSync, read, realpathSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import type { FileState } from '../../ports/workspaces.ts';
import { getCode } from '../file-store/store-errors.ts';

/** Systems without one of these flags have no number for it. */
const flag = (name: 'O_DIRECTORY' | 'O_NOFOLLOW' | 'O_NONBLOCK'): number => constants[name] ?? 0;
const fileFlags = constants.O_RDONLY | flag('O_NOFOLLOW') | flag('O_NONBLOCK');
const folderFlags = constants.O_RDONLY | flag('O_NOFOLLOW') | flag('O_DIRECTORY');

/** Bytes of a file that are read at once when all of it passes through. */
const chunkBytes = 256 * 1024;

const readBytes = promisify(read);

/** Something stands there that is not a regular file. */
export class NoFile extends Error {
  override readonly name = 'NoFile';
}

/**
 * Opens a folder, unless it is a link. The caller closes the descriptor.
 *
 * Opening, looking and closing take microseconds and are done at once: a way through the thread pool takes ten times as long,
 * and a call of a tool makes dozens of them. Contents are read in the pool.
 *
 * @throws an error with the system's code: ENOENT, or ENOTDIR for a link or anything else that is no folder.
 */
export function openFolderAt(path: string, real: string): number {
  try {
    return checked(openSync(path, folderFlags), real);
  } catch (error) {
    // A link gives ELOOP or ENOTDIR, by system.
    throw ['ELOOP', 'EMLINK'].includes(getCode(error) ?? '') ? isLink() : error;
  }
}

/**
 * Regular file that is open for reading. It stays the one that was opened, whatever happens to its name.
 */
export interface OpenFile {
  /** Bytes when it was opened. */
  readonly bytes: number;
  /** Number by which the file system knows it. No later file gets it while this one is open. */
  readonly ino: number;
  /** Permissions when it was opened. */
  readonly mode: number;
  /** Reads the beginning of the file. */
  readAtMost(bytesMax: number): Promise<Uint8Array>;
  /** Reads all of it, which may be large, part by part. Each part is valid until the next one is asked for. */
  parts(): AsyncIterable<Uint8Array>;
  /** Hashes all of it, which may be large. */
  hash(): Promise<FileState>;
  close(): void;
}

/**
 * Opens a file without waiting, not for the writer of a FIFO either. The caller closes it.
 *
 * @returns null when there is none.
 * @throws {NoFile} for a link and anything else that is no regular file.
 */
export function openFileAt(path: string, real: string): OpenFile | null {
  const fd = openOrNull(path);
  if (fd === null) return null;
  const stats = fstatSync(checked(fd, real));
  if (!stats.isFile()) {
    closeSync(fd);
    throw new NoFile();
  }
  const bytes = stats.size;
  return {
    bytes,
    ino: stats.ino,
    mode: stats.mode & 0o777,
    readAtMost: async (bytesMax) => {
      const buffer = Buffer.alloc(Math.min(bytes, bytesMax));
      return buffer.subarray(0, await fill(fd, buffer, 0));
    },
    parts: () => readParts(fd, bytes),
    async hash() {
      const digest = createHash('sha256');
      let length = 0;
      for await (const part of readParts(fd, bytes)) {
        digest.update(part);
        length += part.byteLength;
      }
      return { sha256: digest.digest('hex'), bytes: length };
    },
    close: () => closeSync(fd),
  };
}

async function* readParts(fd: number, bytes: number): AsyncGenerator<Uint8Array> {
  // A buffer that is not filled has met the end.
  const buffer = Buffer.alloc(Math.min(bytes + 1, chunkBytes));
  for (let at = 0; ;) {
    // Each part follows the one before it.
    // oxlint-disable-next-line no-await-in-loop
    const length = await fill(fd, buffer, at);
    yield buffer.subarray(0, length);
    at += length;
    if (length < buffer.byteLength) return;
  }
}

/** Fills a buffer from a position of a file on. @returns the bytes that were read, fewer at the end of the file. */
async function fill(fd: number, buffer: Buffer, position: number): Promise<number> {
  let length = 0;
  while (length < buffer.byteLength) {
    const left = buffer.byteLength - length;
    // oxlint-disable-next-line no-await-in-loop
    const { bytesRead } = await readBytes(fd, buffer, length, left, position + length);
    // A regular file gives less than it is asked for only at its end.
    length += bytesRead;
    if (bytesRead < left) break;
  }
  return length;
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, fileFlags);
  } catch (error) {
    const code = getCode(error) ?? '';
    if (code === 'ENOENT') return null;
    // A link, a socket, or a device without a driver.
    throw ['ELOOP', 'EMLINK', 'ENXIO'].includes(code) ? new NoFile() : error;
  }
}

/** Checks, where a name can't be opened below an open folder, that no link was followed on the way. */
function checked(fd: number, real: string): number {
  if (process.platform === 'linux') return fd;
  const [there, opened] = [lstatSync(real, { throwIfNoEntry: false }), fstatSync(fd)];
  const isSame = there?.ino === opened.ino && there.dev === opened.dev;
  if (isSame && realpathSync.native(real) === real) return fd;
  closeSync(fd);
  throw isLink();
}

function isLink(): Error {
  return Object.assign(new Error('a link'), { code: 'ENOTDIR' });
}
