import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { damageRecord, storedArtifacts, storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
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
  it('FA2: gives back what it got, under the SHA-256 of its bytes', async () => {
    const store = createStore();
    const text = '# Grüße 🌍\r\n\0 \ufeff';
    const ref = await store.put(text);
    expect(ref).toBe(sha256(text));
    expect(await store.getText(ref)).toBe(text);
    expect(Buffer.from(await store.get(ref)).toString('utf8')).toBe(text);
    expect(await createStore().getText(ref)).toBe(text);
    expect(await store.has(ref)).toBe(true);
  });

  it('keeps bytes that are no text, the empty artifact and a byte order mark', async () => {
    const store = createStore();
    const bytes = Uint8Array.from([0xff, 0x00, 0xfe]);
    const ref = await store.put(bytes);
    expect([...(await store.get(ref))]).toEqual([...bytes]);
    await expect(store.getText(ref)).rejects.toMatchObject({ type: 'ArtifactCorrupt' });
    expect(await store.getText(await store.put(''))).toBe('');
    expect(await store.getText(await store.put('\ufefftext'))).toBe('\ufefftext');
  });

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

  it('FA1: the same content 50 times at once is whole', async () => {
    const text = 'at once '.repeat(10_000);
    const stores = [createStore(), createStore()];
    const puts = stores.flatMap((store) => Array.from({ length: 25 }, () => store.put(text)));
    expect(new Set(await Promise.all(puts))).toEqual(new Set([sha256(text)]));
    expect(await createStore().getText(sha256(text))).toBe(text);
    expect(await storedArtifacts(at.home)).toEqual([sha256(text)]);
  });

  it('a missing artifact is named', async () => {
    const store = createStore();
    await store.put('something');
    const ref = sha256('never stored');
    expect(await store.has(ref)).toBe(false);
    await expect(store.get(ref)).rejects.toMatchObject({
      type: 'ArtifactMissing',
      path: segments(),
      message: expect.stringContaining(`The artifact ${ref} is missing in "${segments()}"`),
    });
  });

  it('a store that is not there is no missing artifact: waiting may help', async () => {
    const ref = sha256('anything');
    const error = { type: 'StoreUnavailable', code: 'ENOENT' };
    await expect(createStore().get(ref)).rejects.toMatchObject(error);
    await expect(createStore().has(ref)).rejects.toMatchObject(error);
  });

  it('fault 49: a damaged artifact is reported with its file and place, and mended when stored again', async () => {
    const store = createStore();
    const ref = await store.put('whole and right');
    const { path } = await damageRecord(at.home, ref);
    for (const reader of [store, createStore()]) {
      await expect(reader.get(ref)).rejects.toMatchObject({
        type: 'ArtifactCorrupt',
        ref,
        path,
        message: expect.stringContaining(`("${path}", byte 60)`),
      });
    }
    await store.put('whole and right');
    for (const reader of [store, createStore()]) {
      expect(await reader.getText(ref)).toBe('whole and right');
    }
  });

  it('a batch is stored by the entry that takes it, and read before', async () => {
    const store = createStore();
    const batch = store.openBatch();
    const ref = await batch.put('staged');
    expect([await batch.has(ref), await batch.getText(ref)]).toEqual([true, 'staged']);
    expect([...batch.staged.keys()]).toEqual([ref]);
    const stored = await store.put('stored');
    expect(await batch.getText(stored)).toBe('stored');
    expect(await store.has(ref)).toBe(false);
  });

  it('what a caller does to its bytes changes nothing', async () => {
    const store = createStore(1_000);
    const mine = Buffer.from('mine');
    const ref = await store.put(mine);
    mine.fill(0);
    const got = await store.get(ref);
    got.fill(0);
    expect(await store.getText(ref)).toBe('mine');
  });

  it('reads from memory what it holds, and from disk what it had to let go', async () => {
    const store = createStore(10);
    const first = await store.put('123456');
    const second = await store.put('abcdef');
    for (const ref of [first, second]) await damageRecord(at.home, ref);
    expect(await store.getText(second)).toBe('abcdef');
    await expect(store.get(first)).rejects.toMatchObject({ type: 'ArtifactCorrupt' });
  });
});

describe('nothing outside the root', () => {
  it.each(hostileNames)('fault 51: %j as a reference is refused', async (name) => {
    const store = createStore();
    await store.put('something');
    const before = await at.list(join(at.home, '..'));
    for (const call of [store.get(name), store.getText(name), store.has(name)]) {
      await expect(call).rejects.toMatchObject({ type: 'ArtifactCorrupt' });
    }
    expect(await at.list(join(at.home, '..'))).toEqual(before);
  });

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
