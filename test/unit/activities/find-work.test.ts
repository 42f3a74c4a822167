import { openConsultation } from '../../../activities/design/open-consultation.ts';
import { findWork } from '../../../activities/design/plan-next-wave.ts';
import type { FindWorkInput } from '../../../contracts/design-activities.ts';
import type { Adaptation } from '../../../contracts/adaptation.ts';
import type { ConsultedRole, RecordedDesign } from '../../../contracts/design-run.ts';
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

it('a proof of concept that was changed after it worked is not judged by its old result', async () => {
  const change = (wave: number): Adaptation => ({
    ...judgedAfter(wave),
    cause: { type: 'loop', task_id: 'other', root_cause: 'planning_gap' },
    changed_tasks: [task_id],
  });
  expect(await findProofs({ status: 'failed' }, { wave: 2 }, [change(1)])).toEqual([]);
  expect(await findProofs({ status: 'failed' }, { wave: 2 }, [change(0)])).toMatchObject([
    { task_id },
  ]);
});

it('an agent of a design that is asked about the work has what the work showed', async () => {
  const stages = ['poc_evidence', 'poc_decision', 'loop_analysis', 'adaptation'] as const;
  const materials = stages.map((stage) => ({ stage, subject: task_id, ref: '0'.repeat(64) }));
  const { bench } = await createRun({ design: { ...design, materials } });
  const { store, record_ref: ref } = bench;
  const deps = { store, runs: { read: async () => ({ ref, version: 1 }) } };
  const known = async (role: ConsultedRole) => {
    const asked = { run_id: 'my-run', role, question: 'Why did the proof fail?' };
    const opened = await openConsultation(deps, asked);
    return opened.type === 'open' ? opened.context.materials.map(({ stage }) => stage) : opened;
  };
  expect(await known('risk')).toEqual(['poc_evidence', 'poc_decision']);
  expect(await known('designer')).toEqual(['poc_decision', 'loop_analysis', 'adaptation']);
  expect(await known('verifier')).toEqual(['poc_decision', 'loop_analysis', 'adaptation']);
});

it('a question with faults is refused with all of them, the known roles and a good input', async () => {
  const { bench } = await createRun({ design });
  const runs = { read: async () => ({ ref: bench.record_ref, version: 1 }) };
  const asked = { run_id: 'my-run', role: 'designr', qestion: 'Why?' };
  const opened = await openConsultation({ store: bench.store, runs }, asked);
  const reason = opened.type === 'refused' ? opened.reason : '';
  expect(reason.split('\n')).toEqual([
    expect.stringMatching(/^The input of consultation has 3 faults:/),
    expect.stringMatching(/^- role: .*"designer".*"verifier".*"risk"/),
    expect.stringMatching(/^- question: /),
    expect.stringMatching(
      /^- input: fields that do not belong here: "qestion"\. Did you mean "question"/,
    ),
    expect.stringMatching(/^A good input: \{"run_id":"my-run"/),
  ]);
});
