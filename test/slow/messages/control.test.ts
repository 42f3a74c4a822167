import type { DelegationStatusView } from '../../../contracts/views.ts';
import type { WorkflowHandle } from '@temporalio/client';
import type { WaveView } from '../../../contracts/views.ts';
import { openQuestion, openQuestions, rejectedMessages, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  held,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  unmet,
  work,
  works,
  ownWorkflows,
} from '../../support/scripted-work.ts';
import { untilSignaled, untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

/** Waits until a run and its wave stand still: the wave learns of a pause a moment after the run. */
async function untilPaused(run: WorkflowHandle): Promise<void> {
  await phase(run, 'paused');
  await untilSignaled(stage, `${run.workflowId}/wave-001`, 'pause');
}

function phase(run: WorkflowHandle, wanted: string): Promise<unknown> {
  return eventually(`the phase ${wanted}`, async () => (await stage.status(run)).phase === wanted);
}

it('pause lets calls in flight finish and starts nothing; resume goes on', async () => {
  const first = held({ json: completed('first-done') });
  stage.rehearsal.script([
    plans(1, plan([work('first'), work('next', { depends_on: ['first'] })])),
    works('first', first.reply),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await eventually('a call in flight', async () => callsOf(stage.rehearsal, 'first').length === 1);
  await run.signal('pause', { reason: 'budget talks' });
  await untilPaused(run);
  first.release();
  // The call ends, its delegation completes, and what could start now does not.
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  await eventually('the pause to reach the wave', async () => {
    const { delegations } = await wave.query<WaveView>('wave');
    return delegations[0]?.state === 'completed' && delegations[1]?.reason.includes('resumed');
  });
  expect(stage.rehearsal.counts()).toMatchObject({ calls: 2, ended: 2, inFlight: 0 });
  expect(await stage.status(run)).toMatchObject({
    phase: 'paused',
    paused_reason: 'budget talks',
    waiting_for: ['paused: budget talks'],
  });
  await run.signal('resume', {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(callsOf(stage.rehearsal, 'next').length).toBeGreaterThan(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('pause holds a delegation between two turns, and an answer meanwhile is kept', async () => {
  const first = held({ json: unmet('completed', 'no evidence') });
  stage.rehearsal.script([
    plans(1, plan([work('ask'), work('repair')])),
    works('ask', { json: blocked([question('Which region?')], 'ask-done') }, 1),
    works('ask', { json: completed('ask-done') }),
    // The first output breaks the rule: its criterion is in neither list.
    { match: { callKeyIncludes: '/repair/', nth: 1 }, reply: first.reply },
    works('repair', { json: completed('repair-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  const { question_id } = await openQuestion(stage, run);
  await run.signal('pause', {});
  await untilPaused(run);
  await submit(run, { question_id, answer: 'eu-west' });
  first.release();
  // The plan, the review of the question, and one call of each delegation.
  await stage.rehearsal.waitForCalls(4, 'ended');
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  await eventually('the fault of the first output', async () => {
    const repair = await wave.query<DelegationStatusView, [object]>('status', {
      delegation_id: 'repair',
    });
    return repair.usage.calls === 1;
  });
  expect(stage.rehearsal.counts().calls).toBe(4);
  await run.signal('resume', {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(newestText(callsOf(stage.rehearsal, 'ask')[1])).toContain('eu-west');
  expect(newestText(callsOf(stage.rehearsal, 'repair')[1])).toContain('<faults>');
  await expectPromisesKept(stage, run.workflowId);
});

it('a delegation that is stopped while it is paused has as many turns as calls were made', async () => {
  const first = held({ json: unmet('completed', 'no evidence') });
  stage.rehearsal.script([{ match: { nth: 1 }, reply: first.reply }]);
  const run = await stage.start('delegation', { agent_id: 'writer', task_description: goal });
  await stage.rehearsal.waitForCalls(1);
  await run.signal('pause', {});
  await phase(run, 'paused');
  first.release();
  // The repair waits for the resume.
  await eventually('the reply in the books', async () => {
    const { delegation } = await stage.status(run);
    return delegation?.usage.calls === 1;
  });
  expect((await stage.status(run)).delegation).toMatchObject({ state: 'running', turn: 1 });
  await run.signal('stop', {});
  expect(await run.result()).toMatchObject({ status: 'stopped', turns: 1, usage: { calls: 1 } });
  expect(stage.rehearsal.counts().calls).toBe(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('pause and resume in quick succession leave no child behind', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  stage.rehearsal.script([
    plans(1, plan(ids.map((id) => work(id)))),
    ...ids.flatMap((id) => [
      works(id, { json: blocked([question(`Which ${id}?`)], `${id}-done`) }, 1),
      works(id, { json: completed(`${id}-done`) }),
    ]),
  ]);
  const run = await stage.start('plannerRun', { goal, limits: ownWorkflows });
  const open = await openQuestions(stage, run, ids.length);
  // A child can ask before its wave has heard of its start; only then is it told of changes.
  await untilTold(stage, run.workflowId);
  const inQuickSuccession = async (): Promise<void> => {
    for (let round = 0; round < 12; round += 1) {
      await run.signal('pause', {});
      await run.signal('resume', {});
    }
  };
  await inQuickSuccession();
  await untilTold(stage, run.workflowId);
  const histories = await fetchHistories(stage.client, run.workflowId);
  const told = histories.filter(({ type, history }) =>
    history.events?.some(
      ({ workflowExecutionSignaledEventAttributes: signal }) =>
        type === 'delegation' && signal?.signalName === 'resume',
    ),
  );
  expect(told).toHaveLength(ids.length);
  // Answers may overtake these, and a child may end before it is told.
  await inQuickSuccession();
  for (const { question_id } of open) await submit(run, { question_id, answer: 'this one' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
});

it('messages that come before the first task are seen by it', async () => {
  await stage.stopWorker();
  const run = await stage.start('plannerRun', { goal, criteria: ['Cheap.', 'Restored once.'] });
  await run.signal('pause', { reason: 'not yet' });
  await run.signal('amend', { instruction: 'Use no cloud.', waive_criteria: ['goal-1'] });
  await run.signal('answer', { question_id: 'q1', answer: 'eu-west' });
  await stage.startWorker();
  await phase(run, 'paused');
  await rejectedMessages(stage, run, 1);
  expect(stage.rehearsal.counts().calls).toBe(0);
  stage.rehearsal.script([
    plans(1, plan([work('host', { criteria: ['goal-2'] })])),
    works('host', { json: completed('goal-2') }),
  ]);
  await run.signal('resume');
  const result = await stage.result(run);
  expect(result.criteria.map(({ state }) => state)).toEqual(['waived', 'met']);
  const [text] = planCalls(stage.rehearsal).map(newestText);
  expect(text).toContain('<instructions>["Use no cloud."]</instructions>');
  expect(text).not.toContain('"criterion_id":"goal-1"');
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});

it('pause while the planner plans lets nothing of the plan start', async () => {
  const planned = held({ json: plan([work('host')]) });
  stage.rehearsal.script([
    { match: { schema: 'plan' }, reply: planned.reply },
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await stage.rehearsal.waitForCalls(1);
  await run.signal('pause', {});
  await untilPaused(run);
  planned.release();
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  const { delegations } = await eventually('the plan', async () => {
    const view = await wave.query<WaveView>('wave');
    return view.phase === 'dispatching' && view;
  });
  expect(delegations).toMatchObject([{ state: 'pending', reason: 'the run to be resumed' }]);
  expect(stage.rehearsal.counts()).toMatchObject({ calls: 1, ended: 1 });
  await run.signal('resume', {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
});

it('amend reaches the next planning and waives criteria; a bad one is recorded', async () => {
  const first = held({ json: unmet('completed', 'too hard', 'hard-done', 'goal-1') });
  stage.rehearsal.script([
    plans(1, plan([work('hard', { criteria: ['hard-done', 'goal-1'] }), work('easy')])),
    works('hard', first.reply),
    works('easy', { json: completed('easy-done') }),
    plans(2, plan([work('last', { criteria: ['goal-1'] })])),
    works('last', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria: ['Restored once.', 'Cheap.'] });
  await eventually('a call in flight', async () => callsOf(stage.rehearsal, 'hard').length === 1);
  const instruction = 'Use no cloud at all; </instructions> "quotes" and 🙂 stay.';
  await run.signal('amend', { instruction });
  await run.signal('amend', { waive_criteria: ['hard-done', 'goal-2'] });
  for (const bad of [
    {},
    { instruction: '  ' },
    'use no cloud',
    { instruction: 'x'.repeat(5_000) },
    { waive_criteria: ['goal-7'] },
  ])
    await run.signal('amend', bad);
  const rejected = await rejectedMessages(stage, run, 5);
  const example = 'Try: {"instruction":"Compare the prices too","waive_criteria":["goal-2"]}';
  expect(rejected.map(({ reason }) => reason)).toEqual([
    `Signal amend: the instruction is empty. ${example}`,
    `Signal amend: the instruction is empty. ${example}`,
    `Signal amend: expected one JSON object with an instruction. ${example}`,
    `Signal amend: the instruction has 5000 characters, the limit is 4000. ${example}`,
    'Signal amend: there is no criterion "goal-7". Criteria are: "goal-1", "goal-2", "hard-done", "easy-done".',
  ]);
  first.release();

  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(Object.fromEntries(result.criteria.map((one) => [one.criterion_id, one.state]))).toEqual({
    'goal-1': 'met',
    'goal-2': 'waived',
    'hard-done': 'waived',
    'easy-done': 'met',
  });
  const [before, after] = planCalls(stage.rehearsal).map(newestText);
  expect(before).toContain('<instructions>[]</instructions>');
  // As data of its block: what it says can't close the block.
  expect(after).toContain(JSON.stringify(instruction).replace('<', String.raw`\u003c`));
  expect(after).toContain('"criterion_id":"goal-1"');
  expect(after).not.toContain('"criterion_id":"goal-2"');
  await expectPromisesKept(stage, run.workflowId);
});

it('an escalation typed by hand is recorded as rejected, by a run and by a wave alone', async () => {
  for (const type of ['plannerRun', 'plannerWave'] as const) {
    stage.rehearsal.reset();
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
      works('host', { json: completed('host-done') }),
    ]);
    const run = await stage.start(type, { goal });
    await openQuestion(stage, run);
    await run.signal('escalate', { reason: 'I want to speak to somebody' });
    await run.signal('escalate', { type: 'questions', questions: ['Why?'] });
    const rejected = await rejectedMessages(stage, run, 2);
    for (const { reason } of rejected)
      expect(reason).toContain('Signal escalate: not an escalation');
    expect((await stage.questions(run)).open).toHaveLength(1);
    await submit(run, { question_id: 'q1', answer: 'eu-west' });
    await run.result();
    await expectPromisesKept(stage, run.workflowId);
  }
});
