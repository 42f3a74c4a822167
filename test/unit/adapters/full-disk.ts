/**
 * Started by store-faults.test.ts in a mount namespace of its own, on a tiny file system: fills it, makes it read-only,
 * and prints what the store said as JSON.
 *
 * Arguments: the mount point.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { StoreUnavailable } from '../../../activities/ports/artifact-store.ts';

const [home = ''] = process.argv.slice(2);
const store = createFileArtifactStore({ home, cacheMaxBytes: 0 });
const index = createFileRunIndex({ home });

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { type: error.type, code: error.code, message: error.message };
  }
}

const old = await store.put('old');
await index.write('newest', old, 0);
const files = () => readdirSync(home, { recursive: true }).length;
const filesBefore = files();
// Both at once: one flush.
const [full, small] = await Promise.all([
  outcomeOf(store.put('x'.repeat(1_000_000))),
  outcomeOf(store.put('small')),
]);
const fullFiles = files();
// Until the store has closed its file: a disk that is written can't become read-only.
for (let tries = 0; tries < 200; tries += 1) {
  if (spawnSync('mount', ['-o', 'remount,ro', home]).status === 0) break;
  await sleep(50);
}
const report = {
  full,
  small,
  filesLeft: fullFiles - filesBefore,
  readOnly: await outcomeOf(index.write('newest', 'f'.repeat(64), 1)),
  // Here a directory is missing as well.
  readOnlyDeep: await outcomeOf(store.put('another')),
  index: await outcomeOf(index.read('newest')),
  text: await outcomeOf(store.getText(old)),
};
process.stdout.write(JSON.stringify({ ...report, old }));
