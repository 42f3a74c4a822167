import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { undoDirect } from '../../../activities/adapters/workspaces/undo-direct.ts';
import { encryptStore } from '../../../activities/encryption/encrypt-ports.ts';
import { createStoreCipher } from '../../../encryption/encrypting-codec.ts';
import { testKeys } from '../../support/test-keys.ts';
import { hashBytes } from '../../../activities/text/bytes.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Effects = NonNullable<Parameters<typeof undoDirect>[1]['effects']>;

/** A folder in which a run edited one file twice, added one and removed one, each with its receipt, and ran a command. */
async function createPlayed(before: Uint8Array = Buffer.from('old\n'), keys = testKeys()) {
  const root = mkdtempSync(join(tmpdir(), 'planwave-undo-'));
  folders.push(root);
  const [home, dir] = [join(root, 'home'), join(root, 'user')];
  mkdirSync(dir);
  const store = encryptStore(createFileArtifactStore({ home }), createStoreCipher(keys));
  const kept = await store.put(before);
  writeFileSync(join(dir, 'edited.txt'), 'newest\n');
  writeFileSync(join(dir, 'added.txt'), 'added\n');
  const receipts = [
    { target: 'edited.txt', sha256: hashBytes('newer\n'), replaced_ref: kept },
    { target: 'edited.txt', sha256: hashBytes('newest\n') },
    { target: 'added.txt', sha256: hashBytes('added\n') },
    { target: 'removed.txt', sha256: hashBytes(before), removed: true, replaced_ref: kept },
    { target: 'sh', sha256: kept, command: { exit_code: 0 } },
  ];
  const effects: Effects = JSON.parse(
    JSON.stringify(receipts.map((receipt) => ({ state: 'confirmed', receipt }))),
  );
  const undo = () => undoDirect({ home, store }, { run_id: 'run', effects }, dir);
  const read = (name: string): string | null =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : null;
  return { dir, undo, read };
}

it('finding T5: a run that changed a folder directly is undone: files are as before its first change, once', async () => {
  const { undo, read } = await createPlayed();
  expect(await undo()).toEqual({
    state: 'done',
    files: [
      { change: 'changed', path: 'edited.txt' },
      { change: 'deleted', path: 'added.txt' },
      { change: 'added', path: 'removed.txt' },
    ],
  });
  const files = ['edited.txt', 'added.txt', 'removed.txt'].map(read);
  expect(files).toEqual(['old\n', null, 'old\n']);
  expect(await undo()).toEqual({ state: 'done', files: [] });
});

it.each([['without'], ['with', 'k1']])(
  'an undo that was killed halfway goes on, %s keys',
  async (_how, ...ids) => {
    const { dir, undo, read } = await createPlayed(undefined, testKeys(...ids));
    writeFileSync(join(dir, 'edited.txt'), 'old\n');
    expect(await undo()).toMatchObject({
      state: 'done',
      files: [{ path: 'added.txt' }, { path: 'removed.txt' }],
    });
    expect(['edited.txt', 'added.txt', 'removed.txt'].map(read)).toEqual(['old\n', null, 'old\n']);
    expect(await undo()).toEqual({ state: 'done', files: [] });
  },
);

it('finding T5: nothing is undone when somebody has changed a file since, or what was there is no text', async () => {
  const { dir, undo, read } = await createPlayed();
  writeFileSync(join(dir, 'added.txt'), 'by hand\n');
  expect(await undo()).toEqual({ state: 'conflict', files: ['added.txt'] });
  expect(read('edited.txt')).toBe('newest\n');
  const binary = await createPlayed(Buffer.from([0xff, 0xfe]));
  expect(await binary.undo()).toEqual({ state: 'conflict', files: ['edited.txt', 'removed.txt'] });
  expect(binary.read('edited.txt')).toBe('newest\n');
});
