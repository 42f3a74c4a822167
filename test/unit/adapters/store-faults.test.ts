import { spawnSync } from 'node:child_process';
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atomicWriteFile } from '../../../activities/adapters/file-store/atomic-write-file.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
  await mkdir(at.home);
});
afterEach(() => at.remove());

/** Lets every file write do half of its work and fail with this code, as long as `work` runs. Tells how often it did. */
async function withFailingWrites(code: string, work: () => Promise<void>): Promise<number> {
  const handle = await open(join(at.outside, 'probe'), 'w');
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const real: FileHandle['writeFile'] = Reflect.get(prototype, 'writeFile');
  const realWrite: FileHandle['write'] = Reflect.get(prototype, 'write');
  let failures = 0;
  prototype.writeFile = async function half(this: FileHandle, data) {
    failures += 1;
    await real.call(this, String(data).slice(0, 3));
    throw Object.assign(new Error(`${code}: made by the test`), { code });
  };
  Reflect.set(
    prototype,
    'write',
    async function half(this: FileHandle, data: Buffer, ...rest: number[]) {
      failures += 1;
      await Reflect.apply(realWrite, this, [data, rest[0], Math.floor(data.length / 2), rest[2]]);
      throw Object.assign(new Error(`${code}: made by the test`), { code });
    },
  );
  try {
    await work();
  } finally {
    prototype.writeFile = real;
    prototype.write = realWrite;
  }
  return failures;
}

describe('a write that fails half way', () => {
  it.each([
    ['ENOSPC', 'the disk is full (ENOSPC). Try: free some space'],
    ['EDQUOT', 'the disk quota is used up (EDQUOT). Try: free some space'],
    ['EROFS', 'the file system is read-only (EROFS). Try: mount it writable'],
    ['EACCES', "permission is denied (EACCES). Try: give the worker's user access"],
    ['EIO', 'the disk reports a fault (EIO). Try: check the disk'],
    ['EWHATEVER', 'EWHATEVER: made by the test (EWHATEVER). Try: check the path'],
  ])('fault 49: %s leaves the old file whole and no other, and says why', async (code, text) => {
    const path = join(at.home, 'state.json');
    await atomicWriteFile(path, 'the old state');
    const failures = await withFailingWrites(code, async () => {
      await expect(atomicWriteFile(path, 'the new state')).rejects.toMatchObject({
        type: 'StoreUnavailable',
        code,
        path,
        message: expect.stringContaining(`Can't write "${path}": ${text}`),
      });
    });
    expect(failures).toBe(1);
    expect(await readFile(path, 'utf8')).toBe('the old state');
    expect(await at.list(at.home)).toEqual(['state.json']);
    await atomicWriteFile(path, 'the new state');
    expect(await readFile(path, 'utf8')).toBe('the new state');
  });

  it('fault 49, SW3: an artifact that could not be stored is not there, and can be stored later', async () => {
    const store = createFileArtifactStore({ home: at.home });
    const ref = await store.put('first');
    const stored = await storedRecords(at.home);
    const failures = await withFailingWrites('ENOSPC', async () => {
      await expect(store.put('second')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(await store.getText(ref)).toBe('first');
    });
    expect(failures).toBe(1);
    const [{ path } = { path: '' }] = stored;
    // Nothing of it is left behind the first.
    expect((await stat(path)).size).toBe(60 + 'first'.length);
    expect(await storedRecords(at.home)).toEqual(stored);
    expect(await store.getText(await store.put('second'))).toBe('second');
    expect(await createFileArtifactStore({ home: at.home }).getText(ref)).toBe('first');
  });
});

describe('a home that can not be', () => {
  it('below a file', async () => {
    await writeFile(join(at.outside, 'file'), '');
    const store = createFileArtifactStore({ home: join(at.outside, 'file', 'home') });
    await expect(store.put('x')).rejects.toMatchObject({
      type: 'StoreUnavailable',
      code: 'ENOTDIR',
      message: expect.stringContaining('is a file, not a directory'),
    });
  });

  it('with a name that is too long', async () => {
    const store = createFileArtifactStore({ home: join(at.outside, 'x'.repeat(300)) });
    await expect(store.put('x')).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  it('a directory in place of a file is named, not removed', async () => {
    const path = join(at.home, 'dir');
    await mkdir(join(path, 'inner'), { recursive: true });
    await expect(atomicWriteFile(path, 'x')).rejects.toMatchObject({ type: 'StoreUnavailable' });
    expect(await at.list(at.home)).toEqual(['dir', 'dir/inner']);
  });
});

describe('atomicWriteFile below a root', () => {
  it.each(['../outside/x', '/x', '.', '', 'a/../../outside/x'])(
    'fault 51: refuses %j',
    async (path) => {
      const target = path.startsWith('/') ? join(at.outside, path) : join(at.home, path);
      const write = atomicWriteFile(target, 'x', { root: at.home });
      await expect(write).rejects.toMatchObject({ type: 'StoreUnavailable' });
      expect(await at.list(at.outside)).toEqual([]);
    },
  );

  it('fault 51: refuses NUL', async () => {
    const write = atomicWriteFile(join(at.home, 'a\0b'), 'x', { root: at.home });
    await expect(write).rejects.toMatchObject({ type: 'StoreUnavailable' });
    expect(await at.list(at.home)).toEqual([]);
  });

  it('creates the directories on the way', async () => {
    const path = join(at.home, 'run', 'waves', '001', 'wave_compact.md');
    await atomicWriteFile(path, 'text', { root: at.home });
    expect(await readFile(path, 'utf8')).toBe('text');
  });
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('finding T9: permissions', () => {
  it("only the worker's own user reads what is stored", async () => {
    const path = join(at.home, 'run', 'waves', 'wave_compact.md');
    await atomicWriteFile(path, 'text', { root: at.home });
    expect(await modeOf(path)).toBe('600');
    expect(await modeOf(join(at.home, 'run'))).toBe('700');
    expect(await modeOf(join(at.home, 'run', 'waves'))).toBe('700');
  });

  it('a file of the workspace keeps its permissions, and a new one has those of the umask', async () => {
    const script = join(at.home, 'script.sh');
    await writeFile(script, 'old', { mode: 0o755 });
    await atomicWriteFile(script, 'new', { access: 'shared' });
    expect(await modeOf(script)).toBe('755');
    const plain = join(at.home, 'plain');
    await writeFile(plain, '');
    await atomicWriteFile(join(at.home, 'folder', 'made'), 'new', { access: 'shared' });
    expect(await modeOf(join(at.home, 'folder', 'made'))).toBe(await modeOf(plain));
  });
});

// Where a process may not have a file system of its own, the tests above stand alone.
const canMount = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;
const describeOnTinyDisk = canMount ? describe : describe.skip;

describeOnTinyDisk('a real file system', () => {
  it('fault 49, SW4: full, then read-only', async () => {
    const script = fileURLToPath(new URL('full-disk.ts', import.meta.url));
    const shell = 'mount -t tmpfs -o size=128k tmpfs "$2" && exec "$0" --import tsx "$1" "$2"';
    const args = [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      shell,
      process.execPath,
      script,
      at.home,
    ];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const report = JSON.parse(stdout);
    const readOnly = {
      type: 'StoreUnavailable',
      code: 'EROFS',
      message: expect.stringContaining('the file system is read-only (EROFS)'),
    };
    expect(report).toEqual({
      old: expect.any(String),
      full: {
        type: 'StoreUnavailable',
        code: 'ENOSPC',
        message: expect.stringContaining('the disk is full (ENOSPC). Try: free some space'),
      },
      // The segment of the small one: nothing is written behind a failure.
      filesLeft: 1,
      small: { value: expect.any(String) },
      readOnly,
      readOnlyDeep: readOnly,
      index: { value: { ref: report.old, version: 1 } },
      text: { value: 'old' },
    });
  });
});
