import { findWork } from '../../../activities/design/plan-next-wave.ts';
import type { FindWorkInput } from '../../../contracts/design-activities.ts';
import type { Adaptation } from '../../../contracts/adaptation.ts';
import type { RecordedDesign } from '../../../contracts/design-run.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { samplePlan } from '../../support/plans.ts';
import { outcome } from '../core/builders.ts';
import { createRun } from './prompt-bench.ts';

const plan = samplePlan();
const task_id = plan.tasks.find((task) => task.proof_of_concept !== null)?.task_id ?? '';

const design: RecordedDesign = {
  status: 'approved',
  materials: [],
  plan_refs: [],
  plan_agents: [],
  findings: [],
  approved_by: null,
  usage: noUsage,
};

/** A judgement of the proof of concept after a wave. */
const judgedAfter = (wave: number): Adaptation => ({
  wave,
  cause: { type: 'proof_of_concept', task_id, assessment: 'pass', decision: 'proceed' },
  plan_ref: null,
  changed_tasks: [],
  approved_by: null,
});

/** The proofs of concept to be judged when one worked in the first wave. */
async function findProofs(
  ended: Partial<DelegationOutcome>,
  input: Partial<Pick<FindWorkInput, 'again' | 'wave'>> = {},
  adaptations: readonly Adaptation[] = [],
) {
  const { bench } = await createRun({
    design: { ...design, adaptations },
    waves: [
      {
        wave: 1,
        status: 'decided',
        plan_ref: null,
        outcomes: [outcome(task_id, ended)],
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
  const found = { plan_ref, record_ref, wave: 1, looping: [], ...input };
  return (await findWork(bench.store, found)).proofs;
}

it('a proof of concept is judged by the files that it wrote', async () => {
  const files = [
    { path: 'probe.md', sha256: 'x', bytes: 9, tool: 'write_file', arguments_ref: 'arguments' },
  ];
  expect(await findProofs({ files })).toMatchObject([{ task_id, files }]);
});

it('a proof of concept that failed is judged, one that the user wants again is not', async () => {
  expect(await findProofs({ status: 'failed' }, { again: ['other'] })).toMatchObject([{ task_id }]);
  expect(await findProofs({ status: 'failed' }, { again: [task_id] })).toEqual([]);
});

it.each(['skipped', 'stopped'] as const)(
  'a proof of concept that was %s has shown nothing',
  async (status) => {
    expect(await findProofs({ status })).toEqual([]);
  },
);

it('a proof of concept that was not judged after its wave is judged after a later one, once', async () => {
  expect(await findProofs({}, { wave: 3 })).toMatchObject([{ task_id }]);
  expect(await findProofs({}, { wave: 3 }, [judgedAfter(1)])).toEqual([]);
  expect(await findProofs({}, { wave: 3 }, [judgedAfter(2)])).toEqual([]);
  // The judgement of an earlier result says nothing of this one.
  expect(await findProofs({}, { wave: 3 }, [judgedAfter(0)])).toMatchObject([{ task_id }]);
});
