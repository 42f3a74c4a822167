import { existsSync } from 'node:fs';
import { chmod, lchown, mkdir, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import {
  createFileReplyLedger,
  createFileRunIndex,
} from '../../../activities/adapters/file-store/file-ledgers.ts';
import { pruneHome } from '../../../activities/adapters/file-store/prune-home.ts';
import { listSegments } from '../../../activities/adapters/file-store/segment-files.ts';
import { openSegments } from '../../../activities/adapters/file-store/segments.ts';
import { toWrittenFolder, treePaths } from '../../../activities/projection/paths.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { readTree } from '../../support/read-tree.ts';
import { damageRecord, storedArtifacts, storedRecords } from '../../support/stored-records.ts';
import { createHarness, startedAt } from '../../unit/record/harness.ts';
import type { Harness } from '../../unit/record/harness.ts';
import { usage } from '../../unit/record/samples.ts';
import { wholeRun, wholeRunInput } from '../../unit/record/whole-run.ts';

/** After every file that the tests write. */
const endedBefore = Math.floor(Date.now() / 1_000) + 3_600;

/** A home with the run `old`, which ended long ago, and the run `young`, which has just ended. */
async function createHome(): Promise<Harness> {
  const harness = await createHarness();
  for (const id of ['old', 'young']) {
    const run = await harness.begin(id, wholeRunInput);
    const updates = await wholeRun(harness);
    for (const changes of updates.slice(0, -1)) await run.apply(...changes);
    await harness.updateRecord({
      run_id: id,
      record_ref: run.ref(),
      changes: [{ type: 'ended', status: 'completed', usage: usage(6) }],
      now: id === 'old' ? startedAt + 600 : endedBefore + 60,
    });
  }
  return harness;
}

const nobody = 65_534;

/** Gives a folder, with all below it, to a user whom closed folders keep out. */
async function giveAway(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const path of [folder, ...names.map((name) => join(folder, name))]) {
    await lchown(path, nobody, nobody);
  }
}

async function pruneOlder(
  home: string,
  before: number,
  dryRun = false,
): ReturnType<typeof pruneHome> {
  const segments = openSegments({ home });
  const store = createFileArtifactStore({ segments });
  return pruneHome({ home, segments, store, endedBefore: before, dryRun });
}

const prune = ({ home }: Harness, dryRun = false): ReturnType<typeof pruneHome> =>
  pruneOlder(home, endedBefore, dryRun);

/** Files but for the names of segments, which a prune changes. */
async function treeOf(home: string): Promise<unknown> {
  const files = Object.entries(await readTree(home)).filter(
    ([name]) => !name.startsWith('segments/'),
  );
  return { files, artifacts: await storedArtifacts(home) };
}

/** Makes all segments as old as a time, in Unix epoch seconds. */
async function age(home: string, to: number): Promise<void> {
  for (const { path } of (await listSegments(home)) ?? []) await utimes(path, to, to);
}

describe('finding T9: prune', () => {
  it('HP1: removes a run that ended long ago, and all that no other run needs', async () => {
    const harness = await createHome();
    const { home } = harness;
    const ledger = createFileReplyLedger({ home });
    await ledger.put({ workflow_id: 'old', run_id: 'r', activity_id: '1' }, 1, 'paid');
    await mkdir(join(home, 'old', 'workspace'));
    await writeFile(join(home, 'old', 'workspace', 'made.txt'), 'original');
    const before = await storedRecords(home);
    const young = await readTree(join(home, 'young'));

    const pruned = await prune(harness);

    expect(pruned).toMatchObject({ runs: ['old'], kept_by: null });
    expect(await harness.deps.index.list()).toEqual(['young']);
    expect(await readTree(join(home, 'old'))).toEqual({ 'workspace/made.txt': 'original' });
    const after = await storedRecords(home);
    expect(pruned.records).toBe(before.length - after.length);
    expect(pruned.bytes).toBe(bytesOf(before) - bytesOf(after));
    expect(after.length).toBeLessThan(before.length);
    expect(after.filter(({ attempt }) => attempt > 0)).toEqual([]);
    await rm(join(home, 'young'), { recursive: true });
    await exportRun({ ...harness.deps, store: createFileArtifactStore({ home }) }, 'young');
    expect(await readTree(join(home, 'young'))).toEqual(young);
    expect(await prune(harness)).toMatchObject({ runs: [], records: 0 });
  });

  it('a dry run says the same and removes nothing', async () => {
    const harness = await createHome();
    const before = await readTree(harness.home);
    const told = await prune(harness, true);
    expect(await readTree(harness.home)).toEqual(before);
    expect(told).toMatchObject({ runs: ['old'] });
    expect(await prune(harness)).toEqual(told);
  });

  it('HP2: a run that has not ended keeps all that was stored since it began', async () => {
    const harness = await createHome();
    await harness.begin('open');
    const before = await storedRecords(harness.home);
    expect(await prune(harness)).toEqual({ runs: ['old'], records: 0, bytes: 0, kept_by: 'open' });
    expect(await storedRecords(harness.home)).toEqual(before);
  });

  it('HP7: an entry of kept research goes when its text is gone and it is as old', async () => {
    const { home } = await createHarness();
    const index = createFileRunIndex({ home, folder: 'research' });
    const ref = await createFileArtifactStore({ home }).put('research');
    const old = join(home, 'research', 'n-old', '1.json');
    for (const name of ['old', 'young']) await index.write(name, ref, 0);
    await utimes(old, startedAt, startedAt);
    const pruneAt = (dryRun = false) => pruneOlder(home, startedAt + 60, dryRun);
    // Its text is young.
    expect(await pruneAt()).toMatchObject({ records: 0 });
    await age(home, startedAt);
    expect(await pruneAt()).toMatchObject({ records: 1 });
    expect(await index.list()).toEqual(['old', 'young']);
    const dry = await pruneAt(true);
    expect(await pruneAt()).toEqual(dry);
    expect(dry).toMatchObject({ records: 1 });
    expect(await index.list()).toEqual(['young']);
    expect(await pruneAt()).toMatchObject({ records: 0 });
  });

  it('HP3, GS3: an artifact that is stored again is as young as a new one', async () => {
    const { home } = await createHarness();
    const ref = await createFileArtifactStore({ home }).put('used again');
    const once = await createFileArtifactStore({ home }).put('used once');
    await age(home, startedAt);
    const store = createFileArtifactStore({ home });
    await store.getText(ref);
    await store.put('used again');

    await pruneOlder(home, startedAt + 60);

    expect(await storedArtifacts(home)).toEqual([ref]);
    expect(await store.getText(ref)).toBe('used again');
    await expect(store.getText(once)).rejects.toMatchObject({ type: 'ArtifactMissing' });
  });

  it('HP3, GW1: a process whose segment is taken away goes on in another one, and loses nothing', async () => {
    const { home } = await createHarness();
    const store = createFileArtifactStore({ home, cacheMaxBytes: 0 });
    const old = await store.put('old');
    await age(home, startedAt);
    await pruneOlder(home, startedAt + 60);
    // It knows the artifact, and that it is gone.
    expect(await store.put('old')).toBe(old);
    const ref = await store.put('new');
    expect(await createFileArtifactStore({ home }).getText(old)).toBe('old');
    expect(await createFileArtifactStore({ home }).getText(ref)).toBe('new');
  });

  it('GW2: what a prune that died has taken away is read, and comes back with the next one', async () => {
    const harness = await createHome();
    const { home } = harness;
    for (const { path } of (await listSegments(home)) ?? []) {
      await rename(path, path.replace('.seg', '.aside'));
    }
    const record = await harness.record((await harness.deps.index.read('young')).ref ?? '');
    const { ref } = await harness.deps.index.read('young');
    const cold = createFileArtifactStore({ home });
    expect(await readRecord(cold, ref ?? '')).toEqual(record);
    // Stored again, it does not rely on a file that may go at once.
    await cold.put(await cold.getText(ref ?? ''));
    expect((await storedRecords(home)).filter(({ key }) => key === ref)).toHaveLength(2);
    expect(await prune(harness)).toMatchObject({ runs: ['old'] });
    expect(await readRecord(createFileArtifactStore({ home }), ref ?? '')).toEqual(record);
    expect((await listSegments(home))?.every(({ path }) => path.endsWith('.seg'))).toBe(true);
  });

  it('HP4: after a crash the next prune removes the rest', async () => {
    const [harness, crashed] = [await createHome(), await createHome()];
    await prune(harness);
    // The run has left the index, and its artifacts are still there.
    await rm(join(crashed.home, 'refs', 'n-old'), { recursive: true });
    await rm(join(crashed.home, 'old'), { recursive: true });
    expect(await prune(crashed)).toMatchObject({ runs: [] });
    expect(await treeOf(crashed.home)).toEqual(await treeOf(harness.home));
  });

  it('removes the notes of what the run wrote, and copies in which a command has closed a folder', async () => {
    const harness = await createHome();
    const { home } = harness;
    const [old = '', young = ''] = ['old', 'young'].map((id) => join(home, toWrittenFolder(id)));
    const closed = join(home, 'old', treePaths.worktree('fix'), 'files', 'closed');
    for (const folder of [old, young, closed]) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'one'), '');
    }
    await chmod(closed, 0o555);
    // Root may do everything in a closed folder.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await giveAway(home);
    if (isRoot) process.seteuid?.(nobody);
    try {
      expect((await prune(harness)).runs).toEqual(['old']);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    expect(existsSync(join(home, 'old', 'worktrees'))).toBe(false);
    expect([old, young].map((folder) => existsSync(folder))).toEqual([false, true]);
  });

  it('HP5: a run whose record cannot be read stops it before anything is removed', async () => {
    const harness = await createHome();
    const { ref } = await harness.deps.index.read('young');
    await damageRecord(harness.home, ref ?? '', 'lost');
    const before = await readTree(harness.home);
    await expect(prune(harness)).rejects.toMatchObject({ type: 'ArtifactMissing' });
    expect(await readTree(harness.home)).toEqual(before);

    await writeFile(join(harness.home, 'refs', 'n-young', '99.json'), 'torn');
    await expect(prune(harness)).rejects.toThrow('n-young" is damaged');
  });

  it('HP6: a segment with damaged bytes stays as it is', async () => {
    const { home } = await createHarness();
    const store = createFileArtifactStore({ home });
    const [first] = [await store.put('first'), await store.put('second')];
    await damageRecord(home, first, 'lost');
    const before = await readTree(home);
    expect(await pruneOlder(home, endedBefore)).toMatchObject({ records: 0 });
    expect(await readTree(home)).toEqual(before);
  });
});

const bytesOf = (records: readonly { readonly length: number }[]): number =>
  records.reduce((sum, { length }) => sum + length, 0);
