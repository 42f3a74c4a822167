import { createHash } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileEffectLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { removeFile } from '../../../activities/adapters/workspaces/change-file.ts';
import { closing, openRoot } from '../../../activities/adapters/workspaces/open-folder.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { WorkspaceRefused } from '../../../activities/ports/workspaces.ts';
import type { WorkspacePlace } from '../../../activities/ports/workspaces.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const own: WorkspacePlace = { run_id: 'my-run', dir: null };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A home, a folder that a user named, and something beside both that nobody may touch. */
function createPlaces() {
  const top = at.outside;
  const home = join(top, 'home');
  const dir = join(top, 'named');
  const secret = join(top, 'secret');
  for (const one of [home, dir, secret]) mkdirSync(one);
  writeFileSync(join(secret, 'key.txt'), 'secret');
  return { top, home, dir, secret, workspaces: fileWorkspaces(home) };
}

it('writes below the run, or below the folder that the run names, and says what stands there', async () => {
  const { home, dir, workspaces } = createPlaces();
  expect(await workspaces.look(own, 'notes/a.md')).toBeNull();
  const state = await workspaces.write(own, 'notes/a.md', 'Übrig');
  expect(state).toEqual({ sha256: sha256('Übrig'), bytes: 6 });
  expect(await workspaces.look(own, 'notes/a.md')).toEqual({ ...state, by_run: true });
  expect(readFileSync(join(home, 'my-run/workspace/notes/a.md'), 'utf8')).toBe('Übrig');
  await workspaces.write({ run_id: 'my-run', dir }, 'a.md', 'other');
  expect(readFileSync(join(dir, 'a.md'), 'utf8')).toBe('other');
});

it('FW1: nothing leads outside, by its spelling or by a link', async () => {
  const { home, dir, secret, workspaces } = createPlaces();
  const named: WorkspacePlace = { run_id: 'my-run', dir };
  symlinkSync(secret, join(dir, 'away'));
  symlinkSync(join(secret, 'key.txt'), join(dir, 'key.txt'));
  symlinkSync(join(secret, 'new.txt'), join(dir, 'new.txt'));
  mkdirSync(join(home, 'other-run'));
  symlinkSync(secret, join(home, 'other-run', 'workspace'));
  const tries: readonly (readonly [WorkspacePlace, string])[] = [
    [named, '../secret/key.txt'],
    [named, join(secret, 'key.txt')],
    [named, 'away/key.txt'],
    [named, 'away/deeper/new.txt'],
    [named, 'key.txt'],
    [named, 'new.txt'],
    [named, 'a\0b'],
    [{ run_id: 'other-run', dir: null }, 'key.txt'],
    [{ run_id: '../..', dir: null }, '../key.txt'],
  ];
  for (const [place, path] of tries) {
    await expect(workspaces.write(place, path, 'stolen')).rejects.toThrow(WorkspaceRefused);
    await expect(workspaces.look(place, path)).rejects.toThrow(WorkspaceRefused);
  }
  expect(readdirSync(secret)).toEqual(['key.txt']);
  expect(readFileSync(join(secret, 'key.txt'), 'utf8')).toBe('secret');
});

it('FW1: a file with a second name outside is replaced, and the other name keeps its content', async () => {
  const { dir, secret, workspaces } = createPlaces();
  linkSync(join(secret, 'key.txt'), join(dir, 'same.txt'));
  await workspaces.write({ run_id: 'my-run', dir }, 'same.txt', 'mine');
  expect(readFileSync(join(secret, 'key.txt'), 'utf8')).toBe('secret');
});

it('FW2: a name that differs only in case or Unicode form is refused, and the file there stays', async () => {
  const { dir, workspaces } = createPlaces();
  const place = { run_id: 'my-run', dir };
  await workspaces.write(place, 'Docs/Ünder.md', 'first');
  for (const path of ['docs/x.md', 'Docs/ünder.md', 'Docs/ÜNDER.MD']) {
    await expect(workspaces.write(place, path, 'x')).rejects.toThrow(/is there already/);
  }
  expect(readdirSync(join(dir, 'Docs'))).toEqual(['Ünder.md']);
});

it("FW3: a workspace that holds the artifact home does not give the engine's files away", async () => {
  const { top, home, workspaces } = createPlaces();
  const place = { run_id: 'my-run', dir: top };
  await expect(workspaces.write(place, 'home/objects/ab/cd', 'x')).rejects.toThrow(/own files/);
  expect(await workspaces.findFault(home, true)).toMatch(/own files/);
  expect(await workspaces.findFault(join(top, 'named'), true)).toBeNull();
  expect(await workspaces.findFault('named', true)).toMatch(/not absolute/);
  expect(await workspaces.findFault(join(top, 'missing'), true)).toMatch(/ENOENT.*Try: /);
  expect(await workspaces.findFault(join(top, 'secret/key.txt'), true)).toMatch(/no folder/);
  symlinkSync(home, join(top, 'alias'));
  expect(await workspaces.findFault(join(top, 'alias'), true)).toMatch(/own files/);
});

it('a folder that is no repository and holds some is refused by their names, because no copy would have their files', async () => {
  const { dir, workspaces } = createPlaces();
  const reposOf = async (isCopied = true) => workspaces.findFault(dir, isCopied);
  mkdirSync(join(dir, 'web/module'), { recursive: true });
  // A submodule is left out, as the documentation says.
  writeFileSync(join(dir, 'web/module/.git'), 'gitdir: ../../.git/modules/module\n');
  mkdirSync(join(dir, 'node_modules/package/.git'), { recursive: true });
  expect(await reposOf()).toBeNull();
  for (const path of ['web/.git', 'libs/api/.git']) mkdirSync(join(dir, path), { recursive: true });
  expect(await reposOf()).toMatch(/copy would have: "libs\/api", "web"\. Try: /u);
  expect(await reposOf(false)).toBeNull();
  mkdirSync(join(dir, '.git'));
  expect(await reposOf()).toBeNull();
});

it('FW4: the whole file or none, and a write that fails has changed nothing and names no path of the machine', async () => {
  const { dir, workspaces } = createPlaces();
  const place = { run_id: 'my-run', dir };
  await workspaces.write(place, 'a', 'first');
  await expect(workspaces.write(place, 'a/b', 'x')).rejects.toThrow(/is not a folder/);
  mkdirSync(join(dir, 'folder'));
  const refused = await workspaces.write(place, 'folder', 'x').catch(String);
  expect(refused).toMatch(/is not a file/);
  expect(refused).not.toContain(dir);
  await workspaces.write(place, 'a', 'second');
  expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('second');
  // No half-written file is left.
  expect(readdirSync(dir).toSorted()).toEqual(['a', 'folder']);
  expect(lstatSync(join(dir, 'a')).isFile()).toBe(true);
});

it('FW4: the next write of a file removes what killed ones left beside it, and nothing else', async () => {
  const { dir, workspaces } = createPlaces();
  const place = { run_id: 'my-run', dir };
  /** Leaves what a process leaves that is killed while it writes. */
  const leave = async (name: string): Promise<string> => {
    const before = readdirSync(dir);
    let left = '';
    await workspaces.write(place, name, 'first', {
      mayStill: async () => {
        const [temporary = ''] = readdirSync(dir).filter((one) => !before.includes(one));
        left = temporary.replace(/-[^-]+\.tmp$/u, '-00000000dead.tmp');
      },
    });
    writeFileSync(join(dir, left), 'fir');
    return left;
  };
  const left = await leave('a');
  const others = await leave('b');
  expect(readdirSync(dir).toSorted()).toEqual(['a', 'b', left, others].toSorted());
  await workspaces.write(place, 'a', 'second');
  expect(readdirSync(dir).toSorted()).toEqual(['a', 'b', others].toSorted());
});

it('FW5: content that the run did not write is kept before it is replaced or removed', async () => {
  const { home, dir, workspaces } = createPlaces();
  const place = { run_id: 'my-run', dir };
  const store = createFileArtifactStore({ home });
  const bytes = Buffer.from([0, 255, 1]);
  writeFileSync(join(dir, 'a.bin'), bytes);
  const { replaced_ref = '' } = await workspaces.write(place, 'a.bin', 'mine');
  expect(Buffer.from(await store.get(replaced_ref))).toEqual(bytes);
  expect(await workspaces.write(place, 'a.bin', 'mine again')).not.toHaveProperty('replaced_ref');
  // To another run it is the work of others.
  const other = await workspaces.remove({ run_id: 'other-run', dir }, 'a.bin');
  expect(await store.getText(other.replaced_ref ?? '')).toBe('mine again');
  // What came since the look is not replaced.
  writeFileSync(join(dir, 'b.txt'), 'newer');
  const late = workspaces.write(place, 'b.txt', 'x', { expected: sha256('older') });
  await expect(late).rejects.toThrow(/has changed since.*Try: /);
  expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('newer');
});

it('FW6: a removal that goes on late leaves the file that came since, whatever its content', async () => {
  const { dir } = createPlaces();
  const path = join(dir, 'a');
  const remove = async (meanwhile: () => void) => {
    writeFileSync(path, 'old');
    return closing(openRoot(dir), (folder) =>
      removeFile({ folder, name: 'a', shown: 'a' }, async () => meanwhile()),
    );
  };
  const late = remove(() => {
    rmSync(path);
    writeFileSync(path, 'old');
  });
  await expect(late).rejects.toThrow(/has changed since.*Try: /);
  expect(readFileSync(path, 'utf8')).toBe('old');
  await expect(remove(() => rmSync(path))).rejects.toThrow('There is no "a"');
  await remove(() => {});
  expect(readdirSync(dir)).toEqual([]);
});

it('FE1: a damaged entry of the ledger is not taken for a missing one', async () => {
  const { home } = createPlaces();
  const ledger = createFileEffectLedger({ home });
  const key = sha256('one');
  expect(await ledger.find(key)).toEqual({ state: null, version: 0 });
  const state = { type: 'started', round: 1, before: 'no file', run_id: 'r1' } as const;
  expect(await ledger.put(key, state, 0)).toBe(true);
  expect(await createFileEffectLedger({ home }).find(key)).toEqual({ state, version: 1 });
  const fileOf = (one: string) => join(home, 'effects', one.slice(0, 2), one.slice(2), '1.json');
  const file = fileOf(key);
  const text = readFileSync(file, 'utf8');
  const damaged = ['', text.slice(0, -3), text.replace('started', 'skipped'), 'x'];
  for (const one of damaged) {
    writeFileSync(file, one);
    expect(await ledger.find(key)).toEqual({ state: 'damaged', version: 1 });
  }
  // The entry of another effect, copied here.
  const other = sha256('two');
  await ledger.put(other, state, 0);
  writeFileSync(file, readFileSync(fileOf(other)));
  expect(await ledger.find(key)).toEqual({ state: 'damaged', version: 1 });
  // The user's word about it can be written all the same.
  const skipped = { type: 'skipped', found: 'damaged' } as const;
  expect(await ledger.put(key, skipped, 1)).toBe(true);
  expect(await ledger.find(key)).toEqual({ state: skipped, version: 2 });
});

it('FE2: an attempt that comes late changes nothing of what another one has written', async () => {
  const { home } = createPlaces();
  const ledger = createFileEffectLedger({ home });
  const key = sha256('one');
  const started = { type: 'started', round: 1, before: 'no file', run_id: 'r1' } as const;
  const failed = { type: 'failed', reason: 'no' } as const;
  const skipped = { type: 'skipped', found: 'no' } as const;
  expect(await ledger.put(key, started, 0)).toBe(true);
  expect(await ledger.put(key, started, 0)).toBe(false);
  expect(await ledger.put(key, failed, 1)).toBe(true);
  expect(await ledger.put(key, skipped, 2)).toBe(true);
  for (const after of [0, 1, 2]) {
    expect(await ledger.put(key, started, after)).toBe(false);
    expect(await ledger.find(key)).toEqual({ state: skipped, version: 3 });
  }
});
