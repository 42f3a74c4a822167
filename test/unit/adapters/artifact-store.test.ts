import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const createStore = (cacheMaxBytes = 0) =>
  createFileArtifactStore({ home: at.home, cacheMaxBytes });
const pathOf = (ref: string): string => join(at.home, 'objects', ref.slice(0, 2), ref.slice(2));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the artifact store', () => {
  it('FA2: gives back what it got, under the SHA-256 of its bytes', async () => {
    const store = createStore();
    const text = '# Grüße 🌍\r\n\0 \ufeff';
    const ref = await store.put(text);
    expect(ref).toBe(sha256(text));
    expect(await store.getText(ref)).toBe(text);
    expect(Buffer.from(await store.get(ref)).toString('utf8')).toBe(text);
    expect(await readFile(pathOf(ref), 'utf8')).toBe(text);
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

  it('fault 49, FA3: the same content twice is one artifact, and the old file stays', async () => {
    const store = createStore();
    const ref = await store.put('twice');
    const before = await stat(pathOf(ref));
    expect(await store.put('twice')).toBe(ref);
    const after = await stat(pathOf(ref));
    expect(after.ino).toBe(before.ino);
    // `pruneHome` goes by it.
    expect(after.mtimeMs).toBeGreaterThan(before.mtimeMs);
    expect(await at.list(at.home)).toHaveLength(3);
  });

  it('FA1: the same content 50 times at once is one whole artifact', async () => {
    const text = 'at once '.repeat(10_000);
    const stores = [createStore(), createStore()];
    const puts = stores.flatMap((store) => Array.from({ length: 25 }, () => store.put(text)));
    expect(new Set(await Promise.all(puts))).toEqual(new Set([sha256(text)]));
    expect(await createStore().getText(sha256(text))).toBe(text);
    // No temporary file is left.
    expect(await at.list(at.home)).toHaveLength(3);
  });

  it('a missing artifact is named', async () => {
    const store = createStore();
    await store.put('something');
    const ref = sha256('never stored');
    expect(await store.has(ref)).toBe(false);
    await expect(store.get(ref)).rejects.toMatchObject({
      type: 'ArtifactMissing',
      path: pathOf(ref),
      message: expect.stringContaining('is missing'),
    });
  });

  it('a store that is not there is no missing artifact: waiting may help', async () => {
    const ref = sha256('anything');
    const error = { type: 'StoreUnavailable', code: 'ENOENT' };
    await expect(createStore().get(ref)).rejects.toMatchObject(error);
    await expect(createStore().has(ref)).rejects.toMatchObject(error);
  });

  it.each([
    ['fault 49: a torn artifact', (path: string) => truncate(path, 3)],
    ['an artifact with other bytes', (path: string) => writeFile(path, 'other bytes')],
    ['an empty artifact', (path: string) => truncate(path, 0)],
  ])('%s is reported with its path, and mended when stored again', async (_title, damage) => {
    const store = createStore();
    const ref = await store.put('whole and right');
    await damage(pathOf(ref));
    await expect(store.get(ref)).rejects.toMatchObject({
      type: 'ArtifactCorrupt',
      ref,
      path: pathOf(ref),
      message: expect.stringContaining(pathOf(ref)),
    });
    await store.put('whole and right');
    expect(await store.getText(ref)).toBe('whole and right');
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
    await writeFile(pathOf(first), 'damaged');
    await writeFile(pathOf(second), 'damaged');
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

  it.each(['objects', 'objects/ab'])('fault 51: a symbolic link as %s is refused', async (link) => {
    const store = createStore();
    // Content whose address begins with "ab".
    const text = Array.from({ length: 5_000 }, (_, n) => `text ${n}`).find((one) =>
      sha256(one).startsWith('ab'),
    );
    await mkdir(dirname(join(at.home, link)), { recursive: true });
    await symlink(at.outside, join(at.home, link));
    const error = { type: 'StoreUnavailable', code: 'ELOOP', path: join(at.home, link) };
    await expect(store.put(text ?? '')).rejects.toMatchObject(error);
    await expect(store.get(sha256(text ?? ''))).rejects.toMatchObject(error);
    expect(await at.list(at.outside)).toEqual([]);
  });

  it.each(['target', 'dangling'])('fault 51: a %s link in place of an artifact', async (name) => {
    const store = createStore();
    const secret = join(at.outside, 'target');
    await writeFile(secret, 'planted');
    const ref = await store.put('the artifact');
    const path = pathOf(ref);
    await rm(path);
    await symlink(join(at.outside, name), path);
    // Not followed when read, replaced and not followed when written.
    await expect(store.get(ref)).rejects.toMatchObject({ type: 'ArtifactMissing' });
    expect(await store.has(ref)).toBe(false);
    await store.put('the artifact');
    expect(await store.getText(ref)).toBe('the artifact');
    expect(await readFile(secret, 'utf8')).toBe('planted');
    expect(await at.list(at.outside)).toEqual(['target']);
  });
});
