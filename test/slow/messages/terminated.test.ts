import { openQuestion, refusalOf, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  work,
  works,
  ownWorkflows,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';
const stalled = { stall: 'in-stream', afterEvents: 4, json: completed('long-done') } as const;

/** A terminated workflow cannot report its usage, and its calls leave artifacts without an owner. */
const terminated = { lostUsage: true, orphans: true } as const;

function callInFlight(id: string): Promise<unknown> {
  return eventually(`a call of ${id}`, async () => callsOf(stage.rehearsal, id).length === 1);
}

it('a wave that an operator terminates is a question, and retry goes on with a new wave', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('long')])),
    works('long', stalled, 1),
    plans(2, plan([work('again')])),
    works('again', { json: completed('again-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await callInFlight('long');
  await stage.client.workflow.getHandle(`${run.workflowId}/wave-001`).terminate('by the operator');
  const lost = await openQuestion(stage, run);
  expect(lost).toMatchObject({ kind: 'planner_stuck', choices: ['retry', 'abandon'] });
  expect(lost.text).toMatch(/^Wave 1 ended without a result: .*What now\?$/);
  await submit(run, { question_id: lost.question_id, answer: 'retry' });

  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(newestText(planCalls(stage.rehearsal)[1])).toContain('wave="2"');
  await expectPromisesKept(stage, run.workflowId, terminated);
});

it('a delegation that an operator terminates has failed, and the rest of its wave goes on', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('lost'), work('after', { depends_on: ['lost'] }), work('free')])),
    works('lost', stalled),
    works('free', { json: completed('free-done') }),
    plans(2, plan([work('again', { criteria: ['lost-done', 'after-done'] })])),
    works('again', { json: completed('lost-done', 'after-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, limits: ownWorkflows });
  await callInFlight('lost');
  const lost = stage.client.workflow.getHandle(`${run.workflowId}/wave-001/lost`);
  await lost.terminate('by the operator');
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const decided = stage.rehearsal.calls().find(({ shape }) => shape === 'decision');
  expect(newestText(decided)).toContain(
    '"delegation_id":"after","agent_id":"researcher","status":"skipped","reason":"lost failed"',
  );
  expect(callsOf(stage.rehearsal, 'free')).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId, terminated);
});

it('a lost wave can be the end of the run', async () => {
  stage.rehearsal.script([plans(1, plan([work('long')])), works('long', stalled)]);
  const run = await stage.start('plannerRun', { goal });
  await callInFlight('long');
  await stage.client.workflow.getHandle(`${run.workflowId}/wave-001`).terminate();
  await openQuestion(stage, run);
  await run.signal('answer', { question_id: 'q1', answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned', waves: 1 });
  await expectPromisesKept(stage, run.workflowId, terminated);
});

it('questions of a delegation that an operator terminates are withdrawn', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('asker')])),
    works('asker', { json: blocked([question('Which region?')], 'asker-done') }),
    plans(2, plan([work('again', { criteria: ['asker-done'] })])),
    works('again', { json: completed('asker-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, limits: ownWorkflows });
  const { question_id } = await openQuestion(stage, run);
  const asker = stage.client.workflow.getHandle(`${run.workflowId}/wave-001/asker`);
  await asker.terminate('by the operator');
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const { open } = await stage.questions(run);
  expect(open.map((one) => one.question_id)).not.toContain(question_id);
  await expectPromisesKept(stage, run.workflowId, terminated);
});

it('questions of a wave that an operator terminates are withdrawn, and a late answer is told so', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('asker')])),
    works('asker', { json: blocked([question('Which region?')], 'asker-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  await stage.client.workflow.getHandle(`${run.workflowId}/wave-001`).terminate();
  await openQuestion(stage, run, 'q2');
  const { open } = await stage.questions(run);
  expect(open.map((one) => one.question_id)).toEqual(['q2']);
  const { reason } = await refusalOf(run, { question_id: 'q1', answer: 'eu-west' });
  expect(reason).toContain('withdrawn');
  await submit(run, { question_id: 'q2', answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
  await expectPromisesKept(stage, run.workflowId, terminated);
});
