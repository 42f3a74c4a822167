import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { openVersionedFile } from '../../../activities/adapters/file-store/versioned-file.ts';
import { createTemporaryHome } from '../../unit/adapters/temporary-home.ts';

/** Called before a folder is listed, and before a file gets its name: a writer that is suspended there. */
let beforeListing: (() => Promise<void>) | null = null;
let beforeLink: (() => Promise<void>) | null = null;
const files = process.getBuiltinModule('node:fs/promises');
const { link, readdir } = files;
Object.assign(files, {
  readdir: async (...args: Parameters<typeof readdir>) => {
    const before = beforeListing;
    beforeListing = null;
    await before?.();
    return readdir(...args);
  },
  link: async (...args: Parameters<typeof link>) => {
    const before = beforeLink;
    beforeLink = null;
    await before?.();
    return link(...args);
  },
});
syncBuiltinESMExports();
afterAll(() => {
  Object.assign(files, { link, readdir });
  syncBuiltinESMExports();
});

const temporary = await createTemporaryHome();
afterAll(() => temporary.remove());
const { home } = temporary;

const open = (name: string) => openVersionedFile(home, join(home, name));

it('a writer whose version was read and replaced before it looked back knows that it counts', async () => {
  const first = open('built-upon');
  beforeListing = async () => {
    const other = open('built-upon');
    const { text, version } = await other.readNewest();
    expect({ text, version }).toEqual({ text: 'one', version: 1 });
    expect(await other.writeNext(`${text} two`, version)).toBe(true);
  };
  expect(await first.writeNext('one', 0)).toBe(true);
  expect(await first.readNewest()).toEqual({ text: 'one two', version: 2 });
});

it('a writer that was suspended until its version was taken and removed knows that it does not count', async () => {
  const late = open('late');
  expect(await late.writeNext('one', 0)).toBe(true);
  const other = open('late');
  for (const [text, after] of [
    ['two', 1],
    ['three', 2],
  ] as const) {
    expect(await other.writeNext(text, after)).toBe(true);
  }
  beforeLink = () => Promise.reject(new Error('a version was created'));
  expect(await late.writeNext('late', 1)).toBe(false);
  beforeLink = null;
  expect(await late.writeNext('later', 0)).toBe(false);
  expect(await late.readNewest()).toEqual({ text: 'three', version: 3 });
});

it('a late file does not count because its place was read when another file was there', async () => {
  const [late, other, reader] = [open('place'), open('place'), open('place')];
  expect(await other.writeNext('one', 0)).toBe(true);
  beforeLink = async () => {
    expect(await other.writeNext('two', 1)).toBe(true);
    expect(await reader.readNewest()).toEqual({ text: 'two', version: 2 });
    expect(await other.writeNext('three', 2)).toBe(true);
    beforeListing = async () => {
      expect(await reader.writeNext('four', 2)).toBe(false);
    };
  };
  expect(await late.writeNext('late', 1)).toBe(false);
  expect(await reader.readNewest()).toEqual({ text: 'three', version: 3 });
});

it('a write removes what killed writers have left, but for a young file, which may have its writer', async () => {
  const file = open('left');
  expect(await file.writeNext('one', 0)).toBe(true);
  for (const [name, hoursOld] of [
    ['.old.tmp', 2],
    ['.young.tmp', 0],
  ] as const) {
    const path = join(home, 'left', name);
    const at = Date.now() / 1_000 - hoursOld * 3_600;
    await files.writeFile(path, '');
    await files.utimes(path, at, at);
  }
  expect(await file.writeNext('two', 1)).toBe(true);
  expect((await readdir(join(home, 'left'))).toSorted()).toEqual(['.young.tmp', '2.json']);
});
