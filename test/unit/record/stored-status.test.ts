import { readStoredStatus } from '../../../activities/run-record/export-run.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { createHarness } from './harness.ts';

it('tells from the store alone how a run ended and where its result is', async () => {
  const harness = await createHarness();
  const run = await harness.begin('old-run');
  await run.apply({ type: 'ended', status: 'stopped', usage: { ...noUsage, calls: 3 } });
  expect(await readStoredStatus(harness.deps, 'old-run')).toMatchObject({
    run_id: 'old-run',
    phase: 'stopped',
    usage: { calls: 3 },
    result_path: 'old-run/result.md',
  });
});

it('knows nothing of a run that was never here', async () => {
  const harness = await createHarness();
  expect(await readStoredStatus(harness.deps, 'nobody')).toBeNull();
});
