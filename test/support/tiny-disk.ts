import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stores } from '../../activities/ports/stores.ts';
import { eventually } from './eventually.ts';

interface FillableDisk {
  /** Fills it to the last byte. */
  fill(): void;
  /** Frees the bytes again. */
  free(): void;
}

/** Separate file system that a test may fill and lock, without the rights of an administrator. */
export interface TinyDisk extends FillableDisk {
  /** Folder on it, for any process of this user. */
  readonly home: string;
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
  return {
    home: join(seen, 'home'),
    ...fillable(seen),
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

function fillable(folder: string): FillableDisk {
  const filler = join(folder, 'filler');
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(filler),
  };
}

/** User and group of the owner of files. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Separate file system that processes of all users see. */
export interface MountedDisk extends FillableDisk {
  readonly folder: string;
  unmount(): void;
}

/** True when this process may mount what all processes see: only root may, outside of most containers. */
export const canMountForAll =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Mounts a file system of 16 MB that belongs to the given user. */
export function mountDisk({ uid, gid }: Owner): MountedDisk {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-disk-'));
  const options = `size=16m,mode=700,uid=${uid},gid=${gid}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  return {
    folder,
    ...fillable(folder),
    unmount() {
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Fills the disk below a store and frees it again: the failure is told with its cure, nothing is lost, and writes are taken
 * when there is space.
 *
 * @param said Text of the failure.
 */
export async function expectFullDiskSurvived(
  { store, ledger, index }: Pick<Stores, 'store' | 'ledger' | 'index'>,
  disk: FillableDisk,
  said: RegExp,
): Promise<void> {
  const key = { workflow_id: 'run', run_id: 'r', activity_id: '1' };
  const [first, second] = ['1'.repeat(200_000), '2'.repeat(200_000)];
  const stored = await store.put(first);
  expect(await index.write('run', stored, 0)).toBe(true);
  disk.fill();
  const full = { type: 'StoreUnavailable', message: expect.stringMatching(said) };
  const refused = store.openBatch();
  const lost = await refused.put(second);
  await expect(ledger.put(key, 1, { lost }, refused)).rejects.toMatchObject(full);
  await expect(store.put(second)).rejects.toMatchObject(full);
  // Neither half of what belongs together is there, and what was there can be read.
  expect(await ledger.find(key)).toEqual([]);
  expect(await store.has(lost)).toBe(false);
  expect(await store.getText(stored)).toBe(first);
  expect(await index.read('run')).toEqual({ ref: stored, version: 1 });

  disk.free();
  const batch = store.openBatch();
  const ref = await batch.put(second);
  await ledger.put(key, 1, { ref }, batch);
  expect(await ledger.find(key)).toEqual([{ ref }]);
  expect(await store.getText(ref)).toBe(second);
}
