import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-reply-ledger.ts';
import { pruneHome } from '../../../activities/adapters/file-store/prune-home.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { readTree } from '../../support/read-tree.ts';
import { createHarness, startedAt } from '../record/harness.ts';
import type { Harness } from '../record/harness.ts';
import { usage } from '../record/samples.ts';
import { wholeRun, wholeRunInput } from '../record/whole-run.ts';

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

const prune = ({ home }: Harness, dryRun = false): ReturnType<typeof pruneHome> =>
  pruneHome({ home, store: createFileArtifactStore({ home }), endedBefore, dryRun });

const filesOf = async (home: string, part: string): Promise<readonly string[]> =>
  Object.keys(await readTree(join(home, part)));

describe('finding T9: prune', () => {
  it('HP1: removes a run that ended long ago, and all that no other run needs', async () => {
    const harness = await createHome();
    const { home } = harness;
    const ledger = createFileReplyLedger({ home });
    await ledger.put({ workflow_id: 'old', run_id: 'r', activity_id: '1' }, 1, 'paid');
    await mkdir(join(home, 'old', 'workspace'));
    await writeFile(join(home, 'old', 'workspace', 'made.txt'), 'original');
    const before = await filesOf(home, 'objects');
    const young = await readTree(join(home, 'young'));

    const pruned = await prune(harness);

    expect(pruned).toMatchObject({ runs: ['old'], kept_by: null });
    expect(await harness.deps.index.list()).toEqual(['young']);
    expect(await readTree(join(home, 'old'))).toEqual({ 'workspace/made.txt': 'original' });
    const after = await filesOf(home, 'objects');
    expect(pruned.files).toBe(before.length - after.length + 1);
    expect(after.length).toBeLessThan(before.length);
    expect(await readTree(join(home, 'ledger'))).toEqual({});
    await rm(join(home, 'young'), { recursive: true });
    await exportRun({ ...harness.deps, store: createFileArtifactStore({ home }) }, 'young');
    expect(await readTree(join(home, 'young'))).toEqual(young);
    expect(await prune(harness)).toMatchObject({ runs: [], files: 0 });
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
    const before = await filesOf(harness.home, 'objects');
    expect(await prune(harness)).toEqual({ runs: ['old'], files: 0, bytes: 0, kept_by: 'open' });
    expect(await filesOf(harness.home, 'objects')).toEqual(before);
  });

  it('HP3: an artifact that is stored again is as young as a new one', async () => {
    const { home } = await createHarness();
    const store = createFileArtifactStore({ home });
    const [again, once] = [await store.put('used again'), await store.put('used once')];
    const pathOf = (ref: string): string => join(home, 'objects', ref.slice(0, 2), ref.slice(2));
    for (const ref of [again, once]) await utimes(pathOf(ref), startedAt, startedAt);
    await createFileArtifactStore({ home }).put('used again');

    await pruneHome({ home, store, endedBefore: startedAt + 60, dryRun: false });

    expect(await readFile(pathOf(again), 'utf8')).toBe('used again');
    await expect(stat(pathOf(once))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('HP4: after a crash the next prune removes the rest', async () => {
    const [harness, crashed] = [await createHome(), await createHome()];
    await prune(harness);
    // The run has left the index, and its artifacts are still there.
    await rm(join(crashed.home, 'refs', 'n-old'), { recursive: true });
    await rm(join(crashed.home, 'old'), { recursive: true });
    expect(await prune(crashed)).toMatchObject({ runs: [] });
    expect(await readTree(crashed.home)).toEqual(await readTree(harness.home));
  });

  it('HP5: a run whose record cannot be read stops it before anything is removed', async () => {
    const harness = await createHome();
    const { ref } = await harness.deps.index.read('young');
    await rm(join(harness.home, 'objects', ref?.slice(0, 2) ?? '', ref?.slice(2) ?? ''));
    const before = await readTree(harness.home);
    await expect(prune(harness)).rejects.toMatchObject({ type: 'ArtifactMissing' });
    expect(await readTree(harness.home)).toEqual(before);

    await writeFile(join(harness.home, 'refs', 'n-young', '99.json'), 'torn');
    await expect(prune(harness)).rejects.toThrow('n-young" is damaged');
  });
});
