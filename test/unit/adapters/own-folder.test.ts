import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createOwnCopies, ownFolder } from '../../../activities/adapters/workspaces/own-folder.ts';
import { WorkspaceRefused, type WorkspacePlace } from '../../../activities/ports/workspaces.ts';
import { createTemporaryHome, type TemporaryHome } from './temporary-home.ts';

const place: WorkspacePlace = { run_id: 'my-run', dir: null };
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => {
  if (isRoot) process.seteuid?.(0);
  return at.remove();
});

/** A run's own folder with a file, and what copies it. */
function createRun() {
  const source = ownFolder(at.home, 'my-run');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'kept.txt'), 'kept');
  return { source, ...createOwnCopies(at.home) };
}

const free = (): Promise<void> => Promise.resolve();

it('files that others remove while the folder is copied do not keep it from being copied', async () => {
  const { source, copyOwn } = createRun();
  const names = Array.from({ length: 30 }, (_none, i) => `${i}.tmp`);
  for (const name of names) writeFileSync(join(source, name), '');
  const copy = await copyOwn(place, async (folder) => {
    const isBegun = (): boolean => existsSync(folder) && readdirSync(folder).length > 0;
    const look = (): void => {
      if (!isBegun()) setImmediate(look);
      else for (const name of names) rmSync(join(source, name));
    };
    setImmediate(look);
  });
  expect(readdirSync(copy)).toEqual(['kept.txt']);
});

/** Goes on as a user whom closed folders keep out. */
async function becomeUser(): Promise<void> {
  if (!isRoot) return;
  const paths = (await at.list(at.home)).map((path) => join(at.home, path));
  for (const path of [dirname(at.home), at.home, ...paths]) chownSync(path, nobody, nobody);
  process.seteuid?.(nobody);
}

function leaveClosed(copy: string): void {
  mkdirSync(join(copy, 'closed/inner'), { recursive: true });
  writeFileSync(join(copy, 'closed/inner/left.txt'), '');
  chmodSync(join(copy, 'closed/inner'), 0o000);
  chmodSync(join(copy, 'closed'), 0o555);
}

it('a folder that a command has closed is removed with the copy, and does not stand in the way of the next one', async () => {
  const { copyOwn, dropOwn } = createRun();
  await becomeUser();
  leaveClosed(await copyOwn(place, free));
  const copy = await copyOwn(place, free);
  expect(readdirSync(copy)).toEqual(['kept.txt']);
  leaveClosed(copy);
  await dropOwn(place);
  expect(existsSync(copy)).toBe(false);
});

it('a copy that can’t be made is refused with the reason, and one that can’t be removed fails nothing', async () => {
  const { copyOwn, dropOwn } = createRun();
  const copy = await copyOwn(place, free);
  await becomeUser();
  chmodSync(dirname(copy), 0o555);
  const refused = await copyOwn(place, free).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(WorkspaceRefused);
  expect(String(refused)).toMatch(/could not be copied: .*EACCES/u);
  await dropOwn(place);
  expect(existsSync(copy)).toBe(true);
  chmodSync(dirname(copy), 0o755);
});
