import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

/** Separate file system that a test may fill and lock, without the rights of an administrator. */
export interface TinyDisk {
  /** Folder on it, for any process of this user. */
  readonly home: string;
  /** Fills it to the last byte. */
  fill(): void;
  /** Frees the bytes again. */
  free(): void;
  setReadOnly(isReadOnly: boolean): Promise<void>;
  close(): Promise<void>;
}

const unshare = ['--map-root-user', '--mount'];

/** True when this machine lets a process have a file system of its own. */
export const canMount = spawnSync('unshare', [...unshare, 'true']).status === 0;

/** Shell program that runs its input line by line where the disk is mounted, and reports when a line is done. */
const shell = 'while read -r line; do eval "$line" && echo done; done';

/** Mounts a file system of 4 MB. It lives in a namespace of a separate process. */
export async function mountTinyDisk(): Promise<TinyDisk> {
  const point = mkdtempSync(join(tmpdir(), 'planwave-disk-'));
  const holder = spawn('unshare', [...unshare, 'sh', '-c', shell], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(holder, 'close');
  let done = 0;
  holder.stdout.on('data', (text: Buffer) => (done += text.toString().split('done').length - 1));
  const run = async (line: string): Promise<void> => {
    const before = done;
    holder.stdin.write(`${line}\n`);
    await eventually(line, async () => done > before);
  };
  await run(`mount -t tmpfs -o size=4m tmpfs ${point}`);
  // Path into the namespace of another process of the same user.
  const seen = `/proc/${holder.pid}/root${point}`;
  const filler = join(seen, 'filler');
  return {
    home: join(seen, 'home'),
    fill() {
      const { bavail, bsize } = statfsSync(seen);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(filler),
    setReadOnly: (isReadOnly) =>
      // It is busy until a worker that writes has closed its file.
      run(`until mount -o remount,${isReadOnly ? 'ro' : 'rw'} ${point}; do sleep 0.1; done`),
    async close() {
      holder.stdin.end();
      await ended;
      rmSync(point, { recursive: true });
    },
  };
}
