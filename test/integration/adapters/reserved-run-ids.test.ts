import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyChanges, undoChanges } from '../../../activities/adapters/git/apply-changes.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { checkHome } from '../../../activities/adapters/file-store/check-home.ts';
import { createFileSharedValues } from '../../../activities/adapters/file-store/file-shared-values.ts';
import { pruneHome } from '../../../activities/adapters/file-store/prune-home.ts';
import { openSegments } from '../../../activities/adapters/file-store/segments.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture, put, userGit } from '../../support/git-fixture.ts';
import { createHarness, startedAt } from '../../unit/record/harness.ts';
import { usage } from '../../unit/record/samples.ts';

/** Ids of runs that are names of the engine's own folders in the artifact home. */
const ids = ['shared', 'written', 'blocked'] as const;

const place = (run_id: string) => ({ run_id, dir: null });

it('changes of runs that are named like a folder of the engine are applied and undone', async () => {
  for (const run_id of ids) {
    const { home, dir } = createGitFixture({ 'a.txt': 'a\n' });
    const worker = { delegation_id: 'fix', foundations: [] };
    // oxlint-disable-next-line no-await-in-loop
    const folder = await createGitWorktrees({ home }).open({ run_id, dir, worker });
    put(folder ?? '', { 'a.txt': 'by the run\n' });
    const run = { home, run_id, dir, delegation_ids: ['fix'], results_folders: [] };
    // oxlint-disable-next-line no-await-in-loop
    expect(await applyChanges(run)).toMatchObject({ state: 'done' });
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('by the run\n');
    // oxlint-disable-next-line no-await-in-loop
    expect(await undoChanges(run, startedAt)).toMatchObject({ state: 'done' });
    expect(userGit(dir, 'status', '--porcelain')).toBe('');
    expect(existsSync(join(home, run_id))).toBe(false);
  }
});

it('their files are forked, checked, exported and pruned, and the folders of the engine stay', async () => {
  const harness = await createHarness();
  const { home, deps } = harness;
  const values = createFileSharedValues({ home });
  await values.replace('tenant-day/acme', { limit_micro_usd: 1 }, 0);
  const workspaces = fileWorkspaces(home);
  await workspaces.write(place('written'), 'a.txt', 'a');
  await workspaces.takeOver('written', 'blocked', async () => {});
  await workspaces.write(place('other'), 'b.txt', 'b');
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop
    const run = await harness.begin(id);
    // oxlint-disable-next-line no-await-in-loop
    await run.apply({ type: 'ended', status: 'completed', usage: usage(6) });
    // oxlint-disable-next-line no-await-in-loop
    expect((await exportRun(deps, id)).root).toMatch(new RegExp(`^${id}~`));
  }
  expect(await workspaces.look(place('blocked'), 'a.txt')).toMatchObject({ by_run: true });
  const store = createFileArtifactStore({ home });
  expect(await checkHome({ home, store, repair: false })).toMatchObject({ runs: 3, faults: [] });
  const segments = openSegments({ home });
  const endedBefore = Math.floor(Date.now() / 1_000) + 3_600;
  const pruned = await pruneHome({ home, segments, store, endedBefore, dryRun: false });
  expect(pruned.runs.toSorted()).toEqual([...ids].toSorted());
  for (const id of ids) {
    expect(existsSync(join(home, deps.projection.rootOf(id), 'result.md'))).toBe(false);
  }
  expect((await values.read('tenant-day/acme')).value).toEqual({ limit_micro_usd: 1 });
  expect(await workspaces.look(place('other'), 'b.txt')).toMatchObject({ by_run: true });
  expect((await workspaces.read(place('written'), 'a.txt')).bytes).toBe(1);
});
