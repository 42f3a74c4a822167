import { readStoredPlan } from '../../../activities/run-record/export-run.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { samplePlan } from '../../support/plans.ts';
import { createHarness } from './harness.ts';

it('reads the newest plan of a run from the store alone', async () => {
  const harness = await createHarness();
  const run = await harness.begin('designed');
  expect(await readStoredPlan(harness.deps, 'designed')).toBeNull();
  const versions = [samplePlan({ summary: 'First.' }), samplePlan({ summary: 'Second.' })];
  const plan_refs = await Promise.all(
    versions.map((plan) => harness.deps.store.put(JSON.stringify(plan))),
  );
  await run.apply({
    type: 'designed',
    progress: {
      status: 'designing',
      approved_by: null,
      materials: [],
      plan_refs,
      findings: [],
      usage: noUsage,
    },
  });
  expect(await readStoredPlan(harness.deps, 'designed')).toEqual(versions[1]);
});

it('names the runs that there are when one is unknown', async () => {
  const harness = await createHarness();
  await harness.begin('designed');
  await expect(readStoredPlan(harness.deps, 'ghost')).rejects.toThrow(
    'There is no run "ghost". Known runs: "designed".',
  );
});
