import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-run-index.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const refOf = (digit: string): string => digit.repeat(64);
const entryFile = async (): Promise<string> => {
  const [file = ''] = await readdir(join(at.home, 'refs'));
  return join(at.home, 'refs', file);
};

describe('the run index', () => {
  it('points a name at the newest reference', async () => {
    const index = createFileRunIndex({ home: at.home });
    expect(await index.read('run-1')).toBeNull();
    expect(await index.list()).toEqual([]);
    await index.write('run-1', refOf('a'));
    await index.write('run-1', refOf('b'));
    expect(await index.read('run-1')).toBe(refOf('b'));
    expect(await index.list()).toEqual(['run-1']);
  });

  it('fault 51, FI1 and FI2: whatever a name holds, it is its own entry and stays inside', async () => {
    const index = createFileRunIndex({ home: at.home });
    for (const [n, name] of hostileNames.entries()) {
      await index.write(name, n.toString(16).padStart(64, '0'));
    }
    for (const [n, name] of hostileNames.entries()) {
      expect(await index.read(name)).toBe(n.toString(16).padStart(64, '0'));
    }
    expect(await index.list()).toEqual([...hostileNames].toSorted((a, b) => (a < b ? -1 : 1)));
    const files = await readdir(join(at.home, 'refs'));
    // On a file system that ignores case or Unicode forms they would still be different files.
    expect(files).toHaveLength(hostileNames.length);
    expect(files.filter((file) => !/^[a-z0-9%._-]{1,255}$/.test(file))).toEqual([]);
    expect(await at.list(join(at.home, '..'))).toEqual(
      ['home', 'home/refs', ...files.map((file) => `home/refs/${file}`), 'outside'].toSorted(),
    );
  });

  it('fault 51: a linked directory is refused, a linked entry replaced and never followed', async () => {
    const index = createFileRunIndex({ home: at.home });
    await index.write('run', refOf('a'));
    const file = await entryFile();
    const planted = join(at.outside, 'entry');
    await copyFile(file, planted);
    await writeFile(planted, (await readFile(planted, 'utf8')).replace(refOf('a'), refOf('f')));
    await rm(file);
    await symlink(planted, file);
    expect(await index.read('run')).toBeNull();
    expect(await index.list()).toEqual([]);
    await index.write('run', refOf('b'));
    expect(await index.read('run')).toBe(refOf('b'));
    expect(await readFile(planted, 'utf8')).toContain(refOf('f'));

    await rm(join(at.home, 'refs'), { recursive: true });
    await symlink(at.outside, join(at.home, 'refs'));
    const error = { type: 'StoreUnavailable', code: 'ELOOP' };
    await expect(index.write('run', refOf('a'))).rejects.toMatchObject(error);
    await expect(index.read('run')).rejects.toMatchObject(error);
    expect(await index.list()).toEqual([]);
    expect(await at.list(at.outside)).toEqual(['entry']);
  });

  it('fault 49, FI3: a torn or foreign entry reads as none, and can be written again', async () => {
    const index = createFileRunIndex({ home: at.home });
    await index.write('run', refOf('a'));
    const file = await entryFile();
    await copyFile(file, join(at.home, 'refs', 'n-other.json'));
    await writeFile(join(at.home, 'refs', '.left-over.tmp'), 'half');
    expect(await index.read('other')).toBeNull();
    expect(await index.list()).toEqual(['run']);
    await truncate(file, 20);
    expect(await index.read('run')).toBeNull();
    await index.write('run', refOf('b'));
    expect(await index.read('run')).toBe(refOf('b'));
  });

  it('20 writers at once leave one of their references', async () => {
    const index = createFileRunIndex({ home: at.home });
    await mkdir(at.home, { recursive: true });
    const refs = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(64, '0'));
    await Promise.all(refs.map((ref) => index.write('run', ref)));
    expect(refs).toContain(await index.read('run'));
    expect(await readdir(join(at.home, 'refs'))).toHaveLength(1);
  });
});
