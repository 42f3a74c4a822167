import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileWorkspaces } from '../../../activities/adapters/workspaces/file-workspaces.ts';
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
  return { dir, home, store, undo, read };
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

it('finding T5: nothing is undone when others have changed a file since', async () => {
  const { dir, undo, read } = await createPlayed();
  writeFileSync(join(dir, 'added.txt'), 'by hand\n');
  expect(await undo()).toEqual({ state: 'conflict', files: ['added.txt'] });
  expect(read('edited.txt')).toBe('newest\n');
});

it('finding T5: what was there comes back byte for byte, also when it is no text', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  const { dir, undo } = await createPlayed(bytes);
  expect(await undo()).toMatchObject({ state: 'done' });
  for (const name of ['edited.txt', 'removed.txt']) {
    expect(readFileSync(join(dir, name))).toEqual(bytes);
  }
});

/** Undoes the changes of one file: each content after one, and what it replaced of the user's. */
async function undoOne(
  now: string,
  changes: readonly (readonly [after: string | null, replaced?: string])[],
) {
  const root = mkdtempSync(join(tmpdir(), 'planwave-undo-'));
  folders.push(root);
  const [home, dir] = [join(root, 'home'), join(root, 'user')];
  mkdirSync(dir);
  writeFileSync(join(dir, 'a.ts'), now);
  const store = createFileArtifactStore({ home });
  const receipts = await Promise.all(
    changes.map(async ([after, replaced]) => ({
      target: 'a.ts',
      ...(after === null ? { removed: true } : { sha256: hashBytes(after) }),
      ...(replaced !== undefined && { replaced_ref: await store.put(replaced) }),
    })),
  );
  const effects: Effects = JSON.parse(
    JSON.stringify(receipts.map((receipt) => ({ state: 'confirmed', receipt }))),
  );
  const result = await undoDirect({ home, store }, { run_id: 'run', effects }, dir);
  return { state: result.state, text: readFileSync(join(dir, 'a.ts'), 'utf8') };
}

it('a file gets back what the run replaced first, whichever of its changes the record names first', async () => {
  // The call before asked first, and was approved last.
  const first = ['b.1', 'mine'] as const;
  expect(await undoOne('b.2', [['a.1'], first, ['b.2']])).toEqual({ state: 'done', text: 'mine' });
  expect(await undoOne('a.1', [['a.1'], first])).toEqual({ state: 'done', text: 'mine' });
});

it('what the user wrote between two changes of the run is not replaced by an older content', async () => {
  const changes = [
    ['run 1', 'mine'],
    ['run 2', 'mine, by hand'],
  ] as const;
  expect(await undoOne('run 2', changes)).toEqual({ state: 'conflict', text: 'run 2' });
  expect(await undoOne('mine', changes)).toEqual({ state: 'done', text: 'mine' });
});

it('a removed file comes back with its permissions', async () => {
  const { dir, home, store } = await createPlayed();
  const script = join(dir, 'run.sh');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  const workspaces = createFileWorkspaces({ home, keep: (content) => store.put(content) });
  const removed = await workspaces.remove({ run_id: 'run', dir }, 'run.sh');
  const receipt = { target: 'run.sh', ...removed, removed: true as const };
  const effects: Effects = JSON.parse(JSON.stringify([{ state: 'confirmed', receipt }]));
  expect(await undoDirect({ home, store }, { run_id: 'run', effects }, dir)).toMatchObject({
    state: 'done',
  });
  expect(statSync(script).mode & 0o777).toBe(0o755);
});
