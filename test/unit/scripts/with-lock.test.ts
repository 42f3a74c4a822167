import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../../scripts/bootstrap/with-lock.mjs';
import { createSuspension } from '../../support/suspension.ts';
import { makeFolder } from './fake-executables.ts';

it('lets one do its work after the other', async () => {
  const lock = join(makeFolder(), 'deep', 'lock');
  let atWork = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    atWork += 1;
    most = Math.max(most, atWork);
    await new Promise((resolve) => setImmediate(resolve));
    atWork -= 1;
  };
  await Promise.all([withLock(lock, work), withLock(lock, work), withLock(lock, work)]);
  expect(most).toBe(1);
  expect(existsSync(lock)).toBe(false);
});

it('takes over the lock of a process that is gone', async () => {
  const lock = join(makeFolder(), 'lock');
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(lock, JSON.stringify({ pid, host: hostname() }));
  expect(await withLock(lock, async () => 'done')).toBe('done');
});

it('takes over a lock of another machine that nobody touches any more', async () => {
  const lock = join(makeFolder(), 'lock');
  writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' }));
  utimesSync(lock, new Date(0), new Date(0));
  expect(await withLock(lock, async () => 'done')).toBe('done');
});

it('frees the lock when the work fails', async () => {
  const lock = join(makeFolder(), 'lock');
  const broken = new Error('broken');
  await expect(withLock(lock, () => Promise.reject(broken))).rejects.toThrow('broken');
  expect(existsSync(lock)).toBe(false);
});

it('fault 5: leaves the lock to who has it, when it was suspended until somebody took it over', async () => {
  const lock = join(makeFolder(), 'lock');
  const first = createSuspension();
  const second = createSuspension();
  const suspended = withLock(lock, first.here);
  await first.reached;
  // As whoever takes it over does.
  rmSync(lock);
  const later = withLock(lock, second.here);
  await second.reached;
  const held = readFileSync(lock, 'utf8');

  first.goOn();
  await suspended;

  expect(readFileSync(lock, 'utf8')).toBe(held);
  second.goOn();
  await later;
  expect(existsSync(lock)).toBe(false);
});

it('fault 5: waits for a holder that lives, though its lock is old after the sleep of the machine', async () => {
  const lock = join(makeFolder(), 'lock');
  const holder = createSuspension();
  const holding = withLock(lock, holder.here);
  await holder.reached;
  utimesSync(lock, new Date(0), new Date(0));
  let isTaken = false;
  const looked = createSuspension();
  const waiting = withLock(
    lock,
    async () => void (isTaken = true),
    // Said when it has looked a second time, and waits.
    () => void looked.here(),
  );
  await looked.reached;
  expect(isTaken).toBe(false);
  holder.goOn();
  await Promise.all([holding, waiting]);
  expect(isTaken).toBe(true);
});
