import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFolderFault } from '../../../scripts/parts/settings.ts';
import { startPart } from '../../../scripts/parts/part.ts';
import { supervise } from '../../../scripts/parts/supervise.ts';
import { canMount, mountTinyDisk } from '../../support/tiny-disk.ts';
import { makeFolder } from './fake-executables.ts';

const cure = 'or set PLANWAVE_HOME to another folder.';

it('a folder that is missing is created, for its user alone, and nothing stays in it', () => {
  const folder = join(makeFolder(), 'a', 'b');
  expect(describeFolderFault(folder)).toBeUndefined();
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

it('finding U6: a file in the place of the home is named', () => {
  const home = join(makeFolder(), 'home');
  writeFileSync(home, '');
  expect(describeFolderFault(home)).toBe(
    `${home} can't be written: a file is in its place or above it. Try: move that file away, ${cure}`,
  );
});

const describeOnTinyDisk = canMount ? describe : describe.skip;

describeOnTinyDisk('a disk', () => {
  it('finding U6: read-only or full is named', async () => {
    const disk = await mountTinyDisk();
    try {
      await disk.setReadOnly(true);
      expect(describeFolderFault(disk.home)).toBe(
        `${disk.home} can't be written: its file system is read-only. Try: mount it writable, ${cure}`,
      );
      await disk.setReadOnly(false);
      disk.fill();
      expect(describeFolderFault(disk.home)).toBe(
        `${disk.home} can't be written: its disk is full. Try: free some disk space, ${cure}`,
      );
      disk.free();
      expect(describeFolderFault(disk.home)).toBeUndefined();
    } finally {
      await disk.close();
    }
  });
});

it('finding U6: a part that dies because it can write nothing is given up with that cause', async () => {
  const folder = join(makeFolder(), 'temporal');
  const part = startPart({
    command: process.execPath,
    args: ['--eval', 'process.on("disconnect", () => process.exit(7)); process.send("up")'],
    env: process.env,
    logFile: join(folder, 'part.log'),
    kind: 'node',
  });
  await part.firstMessage;
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  const supervised = supervise({
    name: 'worker',
    part,
    restart: () => Promise.reject(new Error('not tried')),
    say: () => {},
  });
  part.kill();
  expect(await supervised.givenUp).toMatch(
    /^the worker died \(SIGKILL\): .* a file is in its place/,
  );
});
