import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createRecordActivities } from '../../../activities/run-record/create-record-activities.ts';
import type { RecordDeps } from '../../../activities/run-record/deps.ts';
import { planPrune } from '../../../activities/artifacts/store-upkeep.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import type { UpdateRecordInput, UpdateRecordResult } from '../../../contracts/activity-types.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { lostAttempt, notFound, oldAttempt } from '../../support/old-attempt.ts';
import { readTree } from '../../support/read-tree.ts';
import { createSuspension } from '../../support/suspension.ts';
import { createHarness, startedAt } from './harness.ts';
import { question } from './samples.ts';
import { wholeRun, wholeRunInput } from './whole-run.ts';

// What an attempt may still write that goes on when its workflow has been replaced, and what an export may that is outrun.

type Projection = RecordDeps['projection'];

function holdFirstWrite(projection: Projection) {
  const { reached, here, goOn } = createSuspension();
  const held: Projection = {
    ...projection,
    write: async (...file) => {
      await here();
      await projection.write(...file);
    },
  };
  return { held, reached, goOn };
}

function updateIn(
  env: MockActivityEnvironment,
  deps: RecordDeps,
  input: UpdateRecordInput,
): Promise<UpdateRecordResult> {
  return env.run(createRecordActivities(deps).updateRecord, input);
}

/** A run whose newest update is held up, with what that update is: the one after so many. */
async function begunRun(updates = 1) {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const steps = await wholeRun(harness);
  for (const changes of steps.slice(0, updates)) await run.apply(...changes);
  const update: UpdateRecordInput = {
    run_id: 'my-run',
    record_ref: run.ref(),
    changes: steps[updates] ?? [],
    now: startedAt + 120,
  };
  const standing = async () => ({
    indexed: await harness.deps.index.read('my-run'),
    tree: await readTree(join(harness.home, 'my-run')),
  });
  return { harness, run, update, standing };
}

it.each([
  [
    'was reset',
    async ({ run }: Awaited<ReturnType<typeof begunRun>>) =>
      void (await run.apply({ type: 'instruction', instruction: 'Use metric units' })),
  ],
  [
    'is another one under the same id',
    async ({ harness }: Awaited<ReturnType<typeof begunRun>>) =>
      void (await harness.begin('my-run', { goal: 'Something else' })),
  ],
])(
  'fault 5: an attempt that goes on when its run %s changes nothing of it',
  async (_what, replace) => {
    const begun = await begunRun();
    await replace(begun);
    const before = await begun.standing();

    const late = updateIn(lostAttempt(), begun.harness.deps, begun.update);

    await expect(late).rejects.toThrow('somebody else may have the work');
    expect(await begun.standing()).toEqual(before);
  },
);

/** The update of a run that ends a wave, and has files that were not there before. */
const endOfWave = 5;

it.each([
  { what: 'writes those of the reset run again', updates: 1 },
  { what: 'leaves none that the reset run does not have', updates: endOfWave },
  { what: 'does not write its own again, though it has only begun', updates: 1, ageMs: 0 },
])(
  'fault 5: an attempt that was writing files when its run was reset $what',
  async ({ updates, ageMs }) => {
    const begun = await begunRun(updates);
    const { harness, run, update } = begun;
    const { held, reached, goOn } = holdFirstWrite(harness.deps.projection);
    // As long as the attempt has the work, the server says so.
    let hasWork = true;
    const env = oldAttempt(async () => {
      if (!hasWork) throw notFound();
    }, ageMs);
    const late = updateIn(env, { ...harness.deps, projection: held }, update);
    await reached;
    hasWork = false;
    await run.apply({ type: 'instruction', instruction: 'Use metric units' });
    const before = await begun.standing();
    goOn();
    await expect(late).rejects.toThrow('somebody else may have the work');
    expect(await begun.standing()).toEqual(before);
  },
);

it('an export that is outrun by a worker writes the tree of the newer record', async () => {
  const { harness, run, standing } = await begunRun();
  const { held, reached, goOn } = holdFirstWrite(harness.deps.projection);
  const exporting = exportRun({ ...harness.deps, projection: held }, 'my-run');
  await reached;
  await run.apply({ type: 'instruction', instruction: 'Use metric units' });
  const before = await standing();

  goOn();

  expect((await exporting).files).toBe(Object.keys(before.tree).length);
  expect(await standing()).toEqual(before);
});

it('an export that is outrun by a reset leaves no file that the reset run does not have', async () => {
  const { harness, run, update, standing } = await begunRun(endOfWave);
  await updateIn(new MockActivityEnvironment(), harness.deps, update);
  const { held, reached, goOn } = holdFirstWrite(harness.deps.projection);
  const exporting = exportRun({ ...harness.deps, projection: held }, 'my-run');
  await reached;
  // From the record that the update began with.
  await run.apply({ type: 'instruction', instruction: 'Use metric units' });
  const before = await standing();

  goOn();

  await exporting;
  expect(await standing()).toEqual(before);
});

it('a prune keeps what a record leads to that a worker writes when the prune has begun', async () => {
  const store = createMemoryStore();
  const harness = await createHarness({ store });
  const { deps } = harness;
  const run = await harness.begin('my-run');
  const index: RecordDeps['index'] = {
    ...deps.index,
    list: async () => {
      await run.apply({ type: 'question_opened', question: question('q1') });
      return deps.index.list();
    },
  };
  const listStored = async () => {
    const stored = new Set(store.artifacts.keys());
    return (ref: string): boolean => stored.has(ref);
  };
  const { marked } = await planPrune({ store, index, listStored, endedBefore: startedAt + 86_400 });
  expect(marked).toContain(run.ref());
  expect(marked).toContain((await run.record()).registry_ref);
});
