import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import {
  adoptIds,
  findHomeFault,
  findHomeIdentity,
  identifyHome,
  openHome,
} from '../../../activities/adapters/file-store/home-format.ts';
import { StoreUnavailable } from '../../../activities/ports/artifact-store.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const cure = 'Try: the planwave that wrote it, or another folder in PLANWAVE_HOME';

it('a new home gets the mark of its format, and is then used again and again', async () => {
  expect(await findHomeFault(at.home)).toBeNull();
  expect(await Promise.all([openHome(at.home), openHome(at.home)])).toEqual([null, null]);
  expect(await readFile(join(at.home, 'home.json'), 'utf8')).toBe('{"format":3}\n');
  expect(await findHomeFault(at.home)).toBeNull();
});

it('finding T6: a new home gets one id, however many workers open it, and keeps it', async () => {
  expect(await findHomeIdentity(at.home)).toBeNull();
  await expect(identifyHome(at.home)).rejects.toThrow(
    `The artifact home "${at.home}" is gone: it has no store.json (ENOENT).`,
  );
  await Promise.all(Array.from({ length: 8 }, () => openHome(at.home)));
  const first = await identifyHome(at.home);
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    place: `"${at.home}" on ${hostname()}`,
  });
  await openHome(at.home);
  expect(await findHomeIdentity(at.home)).toEqual(first);
  await writeFile(join(at.home, 'store.json'), '{"id":""}');
  await expect(identifyHome(at.home)).rejects.toThrow(StoreUnavailable);
  await expect(identifyHome(at.home)).rejects.toThrow('restore the file from a backup');
});

it('a home with runs and without a mark is refused, and stays as it was', async () => {
  await createFileRunIndex({ home: at.home }).write('run', 'a'.repeat(64), 0);
  const before = await at.list(at.home);
  expect(await openHome(at.home)).toBe(
    `The artifact home "${at.home}" has no mark of its format; this planwave reads and writes format 3. ${cure}`,
  );
  expect(await at.list(at.home)).toEqual(before);
});

it.each([
  ['{"format":2}', 'format 2'],
  ['{"format":4}', 'format 4'],
  ['{"format":"new"}', 'format "new"'],
  ['{"form', 'a damaged mark of its format'],
])('a home that is marked %s is refused', async (mark, told) => {
  await openHome(at.home);
  await writeFile(join(at.home, 'home.json'), mark);
  for (const look of [openHome, findHomeFault]) {
    expect(await look(at.home)).toContain(`has ${told}; this planwave reads and writes format 3`);
  }
});

it('the identity for every activity is that of the file, also after it has changed or gone', async () => {
  await openHome(at.home);
  const identify = () => identifyHome(at.home);
  const first = await identify();
  expect(await identify()).toBe(first);
  await adoptIds(at.home, ['aaaaaaaaaaaa']);
  expect(await identify()).toEqual({ ...first, copied: ['aaaaaaaaaaaa'] });
  await rm(join(at.home, 'store.json'));
  await expect(identify()).rejects.toThrow('is gone: it has no store.json (ENOENT)');
  await writeFile(join(at.home, 'store.json'), '{"id":"bbbbbbbbbbbb"}\n');
  expect(await identify()).toMatchObject({ id: 'bbbbbbbbbbbb' });
});
