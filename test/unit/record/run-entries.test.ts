import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KnownEntries, listRunEntries } from '../../../activities/run-record/read-page.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import type { ArtifactStore } from '../../../activities/ports/artifact-store.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { question } from '../core/builders.ts';
import { createHarness, startedAt } from './harness.ts';

it('lists runs with goal, state and start', async () => {
  const harness = await createHarness();
  expect(await listRunEntries(harness.deps)).toEqual([]);
  const asking = await harness.begin('asking', { goal: 'Ask' });
  await asking.apply({ type: 'question_opened', question: question({ question_id: 'q1' }) });
  // A question that is left at the end waits for no one.
  const ended = await harness.begin('ended', { goal: 'End' });
  await ended.apply({ type: 'question_opened', question: question({ question_id: 'q1' }) });
  await ended.apply({ type: 'ended', status: 'stopped', usage: noUsage });
  const entries = await listRunEntries(harness.deps);
  expect(entries).toHaveLength(2);
  expect(entries).toContainEqual({
    run_id: 'asking',
    goal_title: 'Ask',
    state: 'waiting for you',
    started_at: startedAt,
  });
  expect(entries).toContainEqual(expect.objectContaining({ run_id: 'ended', state: 'stopped' }));
});

it('reads again only the runs that have changed', async () => {
  const harness = await createHarness();
  const asking = await harness.begin('asking', { goal: 'Ask' });
  await harness.begin('still', { goal: 'Be still' });
  let reads = 0;
  const store: ArtifactStore = {
    ...harness.deps.store,
    getText: (ref) => {
      reads += 1;
      return harness.deps.store.getText(ref);
    },
  };
  const known: KnownEntries = new Map();
  const list = () => listRunEntries({ ...harness.deps, store }, known);
  const first = await list();
  expect(reads).toBeGreaterThan(0);
  reads = 0;
  expect(await list()).toEqual(first);
  expect(reads).toBe(0);
  await asking.apply({ type: 'question_opened', question: question({ question_id: 'q1' }) });
  expect(await list()).toContainEqual(
    expect.objectContaining({ run_id: 'asking', state: 'waiting for you' }),
  );
});

it('a run whose log is gone is listed as damaged, and hides no other', async () => {
  const harness = await createHarness();
  await harness.begin('gone', { goal: 'Gone' });
  const folder = join(harness.home, 'segments');
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  const store = createFileArtifactStore({ home: harness.home });
  expect(await listRunEntries({ ...harness.deps, store })).toEqual([
    { run_id: 'gone', goal_title: '', state: 'damaged', started_at: null },
  ]);
});
