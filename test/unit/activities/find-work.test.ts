import { findWork } from '../../../activities/design/plan-next-wave.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { samplePlan } from '../../support/plans.ts';
import { outcome } from '../core/builders.ts';
import { createRun } from './prompt-bench.ts';

it('a proof of concept is judged by the files that it wrote', async () => {
  const plan = samplePlan();
  const task_id = plan.tasks.find((task) => task.proof_of_concept !== null)?.task_id ?? '';
  const files = [
    { path: 'probe.md', sha256: 'x', bytes: 9, tool: 'write_file', arguments_ref: 'arguments' },
  ];
  const { bench } = await createRun({
    waves: [
      {
        wave: 1,
        status: 'decided',
        plan_ref: null,
        outcomes: [outcome(task_id, { files })],
        decision_ref: null,
        usage: noUsage,
        planned_at: 1,
        done_at: 2,
        shown: null,
      },
    ],
  });
  const plan_ref = await bench.store.put(JSON.stringify(plan));
  const { record_ref } = bench;
  const { proofs } = await findWork(bench.store, { plan_ref, record_ref, wave: 1, looping: [] });
  expect(proofs).toMatchObject([{ task_id, files }]);
});
