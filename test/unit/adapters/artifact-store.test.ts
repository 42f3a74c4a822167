import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { damageRecord, storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const createStore = (cacheMaxBytes = 0) =>
  createFileArtifactStore({ home: at.home, cacheMaxBytes });
const segments = (): string => join(at.home, 'segments');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the artifact store', () => {
  it('fault 49, FA3, GS3: the same content twice is one record, as young as a new one', async () => {
    const store = createStore();
    const ref = await store.put('twice');
    const [{ path } = { path: '' }] = await storedRecords(at.home);
    await utimes(path, 1, 1);
    expect(await store.put('twice')).toBe(ref);
    // `pruneHome` goes by it.
    expect((await stat(path)).mtimeMs).toBeGreaterThan(1_000);
    // Another process knows it as soon as it has looked for anything.
    const other = createStore();
    await other.getText(ref);
    await other.put('twice');
    expect(await storedRecords(at.home)).toHaveLength(1);
  });

  it('a store that is not there is no missing artifact: waiting may help', async () => {
    const ref = sha256('anything');
    const error = { type: 'StoreUnavailable', code: 'ENOENT' };
    await expect(createStore().get(ref)).rejects.toMatchObject(error);
    await expect(createStore().has(ref)).rejects.toMatchObject(error);
  });

  it('fault 49: a damaged artifact is reported with its file and place', async () => {
    const store = createStore();
    const ref = await store.put('whole and right');
    const { path } = await damageRecord(at.home, ref);
    for (const reader of [store, createStore()]) {
      await expect(reader.get(ref)).rejects.toMatchObject({
        type: 'ArtifactDamaged',
        ref,
        path,
        message: expect.stringContaining(`("${path}", byte 60)`),
      });
    }
  });
});

describe('nothing outside the root', () => {
  it('fault 51: a symbolic link as "segments" is refused', async () => {
    const store = createStore();
    await mkdir(at.home);
    await symlink(at.outside, segments());
    const error = { type: 'StoreUnavailable', code: 'ELOOP', path: segments() };
    await expect(store.put('text')).rejects.toMatchObject(error);
    await expect(store.get(sha256('text'))).rejects.toMatchObject(error);
    expect(await at.list(at.outside)).toEqual([]);
  });

  it('fault 51: a link in place of a segment is not followed', async () => {
    const store = createStore();
    const ref = await store.put('the artifact');
    const [{ path } = { path: '' }] = await storedRecords(at.home);
    const target = join(at.outside, 'target');
    await copyFile(path, target);
    await rm(path);
    await symlink(target, path);
    const before = await readFile(target);
    // Not followed when read, and not when written.
    await expect(createStore().get(ref)).rejects.toMatchObject({ type: 'ArtifactMissing' });
    await store.put('another');
    expect(await store.getText(await store.put('the artifact'))).toBe('the artifact');
    expect(await createStore().getText(ref)).toBe('the artifact');
    expect(await readFile(target)).toEqual(before);
  });
});
