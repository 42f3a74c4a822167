/**
 * Started by sqlite-thread-store.test.ts in a mount namespace of its own, on a tiny file system: fills it, makes it
 * read-only, mends it, and prints what the store of threads said as JSON.
 *
 * Arguments: the mount point. Needs `--expose-gc`: a file system with a file that is open can't be made read-only.
 */
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSqliteThreadStore } from '../../../activities/adapters/thread-store/sqlite-thread-store.ts';
import { ThreadUnavailable } from '../../../activities/ports/thread-store.ts';
import { entry } from '../../support/thread-entries.ts';

const [home = ''] = process.argv.slice(2);
const filler = join(home, 'filler');
const store = createSqliteThreadStore({ home });
const long = entry({ thread_id: 'd', message: 'x'.repeat(20_000) });

/** @param tries Further attempts, each after a collection: what was collected is let go of in the next round. */
async function remount(mode: 'ro' | 'rw', tries = 0): Promise<void> {
  const { status, stderr } = spawnSync('mount', ['-o', `remount,${mode}`, home]);
  if (status === 0) return;
  if (tries === 0) throw new Error(`mount: ${stderr.toString()}`);
  globalThis.gc?.();
  await sleep(50);
  await remount(mode, tries - 1);
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    if (!(error instanceof ThreadUnavailable)) throw error;
    return error.message;
  }
}

async function count(): Promise<number> {
  const { messages } = await store.load('d', { messages: 9, delegations: 9, exceptRun: '' });
  return messages.length;
}

await store.append(entry({ thread_id: 'd' }));
const { bavail, bsize } = statfsSync(home);
writeFileSync(filler, Buffer.alloc(bavail * bsize));
const full = await faultOf(store.append(long));
const whileFull = await count();
rmSync(filler);
await store.close();
await remount('ro', 100);
const readOnly = await faultOf(store.append(long));
const whileReadOnly = await count();
await remount('rw');
const well = await faultOf(store.append(long));
const report = { full, whileFull, readOnly, whileReadOnly, well, inTheEnd: await count() };
process.stdout.write(JSON.stringify(report));
