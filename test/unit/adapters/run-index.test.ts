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
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const refOf = (digit: string): string => digit.repeat(64);
const entryFile = (version: number): string => join(at.home, 'refs', 'n-run', `${version}.json`);

describe('the run index', () => {
  it('fault 51, FI1 and FI2: whatever a name holds, it is its own entry and stays inside', async () => {
    const index = createFileRunIndex({ home: at.home });
    for (const [n, name] of hostileNames.entries()) {
      await index.write(name, n.toString(16).padStart(64, '0'), 0);
    }
    const entries = await readdir(join(at.home, 'refs'));
    // On a file system that ignores case or Unicode forms they would still be different directories.
    expect(entries).toHaveLength(hostileNames.length);
    expect(entries.filter((entry) => !/^[a-z0-9%_-]{1,255}$/.test(entry))).toEqual([]);
    expect(await at.list(join(at.home, '..'))).toEqual(
      [
        'home',
        'home/refs',
        ...entries.flatMap((entry) => [`home/refs/${entry}`, `home/refs/${entry}/1.json`]),
        'outside',
      ].toSorted(),
    );
  });

  it('fault 51: a linked directory is refused, a linked entry never followed', async () => {
    const index = createFileRunIndex({ home: at.home });
    await index.write('run', refOf('a'), 0);
    const planted = join(at.outside, '1.json');
    await copyFile(entryFile(1), planted);
    await writeFile(planted, (await readFile(planted, 'utf8')).replace(refOf('a'), refOf('f')));
    await rm(entryFile(1));
    await symlink(planted, entryFile(1));
    expect(await index.read('run')).toEqual({ ref: null, version: 1 });
    expect(await index.list()).toEqual([]);
    await index.write('run', refOf('b'), 1);
    expect(await index.read('run')).toEqual({ ref: refOf('b'), version: 2 });
    expect(await readFile(planted, 'utf8')).toContain(refOf('f'));

    const error = { type: 'StoreUnavailable', code: 'ELOOP' };
    for (const directory of [join(at.home, 'refs', 'n-run'), join(at.home, 'refs')]) {
      await rm(directory, { recursive: true });
      await symlink(at.outside, directory);
      await expect(index.write('run', refOf('a'), 2)).rejects.toMatchObject(error);
      await expect(index.read('run')).rejects.toMatchObject(error);
      expect(await index.list()).toEqual([]);
    }
    expect(await at.list(at.outside)).toEqual(['1.json']);
  });

  it('fault 49, FI3: a torn or foreign entry points nowhere, and can be written again', async () => {
    const index = createFileRunIndex({ home: at.home });
    await index.write('run', refOf('a'), 0);
    await mkdir(join(at.home, 'refs', 'n-other'));
    await copyFile(entryFile(1), join(at.home, 'refs', 'n-other', '1.json'));
    await writeFile(join(at.home, 'refs', 'n-run', '.left-over.tmp'), 'half');
    expect(await index.read('other')).toEqual({ ref: null, version: 1 });
    expect(await index.list()).toEqual(['run']);
    await truncate(entryFile(1), 20);
    expect(await index.read('run')).toEqual({ ref: null, version: 1 });
    await index.write('run', refOf('b'), 1);
    expect(await index.read('run')).toEqual({ ref: refOf('b'), version: 2 });
  });

  it('FI4: of 20 writers after the same version one has its way', async () => {
    const index = createFileRunIndex({ home: at.home });
    const refs = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(64, '0'));
    const written = await Promise.all(refs.map((ref) => index.write('run', ref, 0)));
    const won = refs.filter((_, n) => written[n]);
    expect(won).toHaveLength(1);
    expect(await index.read('run')).toEqual({ ref: won[0], version: 1 });
    expect(await readdir(join(at.home, 'refs', 'n-run'))).toEqual(['1.json']);
  });

  it('FI4: who comes late, however late, replaces nothing and leaves nothing', async () => {
    const index = createFileRunIndex({ home: at.home });
    for (let version = 0; version < 12; version += 1) {
      expect(await index.write('run', refOf('a'), version)).toBe(true);
    }
    // The last version, one that was removed since, and one before any.
    for (const after of [11, 5, 0]) expect(await index.write('run', refOf('f'), after)).toBe(false);
    expect(await index.read('run')).toEqual({ ref: refOf('a'), version: 12 });
    expect(await readdir(join(at.home, 'refs', 'n-run'))).toEqual(['12.json']);
  });
});
