import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import type { Reply, ReplyFunction } from '../../../rehearsal/script.ts';
import { lastMessageOf, scriptedCalls } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  plan,
  planCalls,
  plans,
  plansOneTask,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { WaveDecision } from '../../../contracts/wave-plan.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

const untilAsked = (run: WorkflowHandle, kind: Question['kind']): Promise<Question> =>
  eventually(`a question of kind ${kind}`, async () =>
    (await stage.questions(run)).open.find((one) => one.kind === kind),
  );

const badPlans: readonly (readonly [title: string, reply: Reply, said: RegExp])[] = [
  ['no JSON', { text: 'First we should think.' }, /not JSON alone/],
  [
    'a plan for an agent that does not exist',
    { json: plan([work('a', { agent_id: 'nobody' })]) },
    /nobody/,
  ],
  [
    'a plan with a cycle',
    { json: plan([work('a', { depends_on: ['b'] }), work('b', { depends_on: ['a'] })]) },
    /the dependencies form a cycle: a→b→a/,
  ],
];

it.each(badPlans)(
  'fault 27: %s goes back to the planner and is repaired',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ match: { schema: 'plan' }, times: 2, reply }, plansOneTask]);
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    expect(scriptedCalls(stage, 0)).toHaveLength(2);
    const [first, second, third] = planCalls(stage.rehearsal);
    expect(lastMessageOf(first)).not.toMatch(/Try: /);
    for (const call of [second, third]) expect(lastMessageOf(call)).toMatch(/Try: /);
    expect(lastMessageOf(second)).toMatch(said);
    expect(result.usage.calls).toBe(stage.rehearsal.counts().calls);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it.each(badPlans)(
  'fault 27: %s three times is put to the user; retry begins a new conversation',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ match: { schema: 'plan' }, times: 3, reply }, plansOneTask]);
    const run = await stage.start('plannerRun', { goal });
    const stuck = await untilAsked(run, 'planner_stuck');
    expect(stuck).toMatchObject({ choices: ['retry', 'abandon'], wave: 1, delegation_id: null });
    expect(stuck.text).toMatch(/could not plan wave 1: No valid output in 3 attempts\./);
    expect(stuck.text).toMatch(said);
    expect(stage.rehearsal.counts().calls).toBe(3);
    expect(await stage.status(run)).toMatchObject({ phase: 'waiting_for_user' });
    await run.signal('answer', { question_id: stuck.question_id, answer: 'retry' });
    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    expect(scriptedCalls(stage, 0)).toHaveLength(3);
    expect(result.usage.calls).toBe(stage.rehearsal.counts().calls);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 27: a planner that is stuck and given up abandons the run, and its calls are counted', async () => {
  stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { text: 'Hm.' } }]);
  const run = await stage.start('plannerRun', { goal });
  const stuck = await untilAsked(run, 'planner_stuck');
  await run.signal('answer', { question_id: stuck.question_id, answer: 'abandon' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'abandoned', usage: { calls: 3 } });
  expect(scriptedCalls(stage)).toHaveLength(3);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: a planner that stays stuck costs three calls for each retry, which the user decides', async () => {
  stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { text: 'Hm.' } }]);
  const run = await stage.start('plannerRun', { goal });
  for (const [calls, answer] of [
    [3, 'retry'],
    [6, 'retry'],
    [9, 'abandon'],
  ] as const) {
    await stage.rehearsal.waitForCalls(calls, 'ended');
    const stuck = await untilAsked(run, 'planner_stuck');
    expect(stage.rehearsal.counts().calls).toBe(calls);
    await run.signal('answer', { question_id: stuck.question_id, answer });
  }
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'abandoned', usage: { calls: 9 } });
  expect(scriptedCalls(stage)).toHaveLength(9);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: with use_defaults nobody is asked, and a stuck planner ends the run', async () => {
  stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { text: 'Hm.' } }]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'abandoned', usage: { calls: 3 } });
  expect(scriptedCalls(stage)).toHaveLength(3);
  await expectPromisesKept(stage, run.workflowId);
});

/** The rehearsal's own decision, which claims that all is well. */
const claimsOk: ReplyFunction = ({ defaultOutput }) => {
  const decision = WaveDecision.parse(defaultOutput());
  const { planner_decision } = decision;
  return {
    json: {
      ...decision,
      planner_decision: { ...planner_decision, io_status: 'OK', not_ok_reasons: [] },
    },
  };
};

it('fault 27: a decision that claims OK with open criteria is refused and repaired, and another wave follows', async () => {
  stage.rehearsal.script([
    { match: { schema: 'decision', nth: 1 }, reply: claimsOk },
    { match: { schema: 'decision', nth: 2 }, reply: claimsOk },
    works('bad', { json: unmet('failed', 'Nothing to go by.', 'bad-done') }),
    plans(1, plan([work('good'), work('bad')])),
  ]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(scriptedCalls(stage).map(({ rule }) => rule)).toEqual(expect.arrayContaining([0, 1, 2]));
  const decisions = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(decisions).toHaveLength(4);
  for (const repair of decisions.slice(1, 3)) {
    expect(lastMessageOf(repair)).toMatch(/OK.*but these criteria are open/);
    expect(lastMessageOf(repair)).toContain('bad-done');
  }
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: a decision that insists on OK is put to the user; abandon ends the run with what was done', async () => {
  stage.rehearsal.script([
    { match: { schema: 'decision' }, reply: claimsOk },
    works('bad', { json: unmet('failed', 'Nothing to go by.', 'bad-done') }),
    plans(1, plan([work('good'), work('bad')])),
  ]);
  const run = await stage.start('plannerRun', { goal });
  const stuck = await untilAsked(run, 'planner_stuck');
  expect(stuck.text).toMatch(/could not decide on wave 1:.*these criteria are open/);
  await run.signal('answer', { question_id: stuck.question_id, answer: 'abandon' });
  const result = await stage.result(run);
  expect(result.status).toBe('abandoned');
  const states = new Map(result.criteria.map((one) => [one.criterion_id, one.state]));
  expect(states.get('good-done')).toBe('met');
  expect(states.get('bad-done')).toBe('open');
  expect(scriptedCalls(stage, 0)).toHaveLength(3);
  expect(result.usage.calls).toBe(stage.rehearsal.counts().calls);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 27: a plan that names no delegation and asks nothing is refused', async () => {
  stage.rehearsal.script([plans(1, plan([])), plansOneTask]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(scriptedCalls(stage, 0)).toHaveLength(1);
  expect(lastMessageOf(planCalls(stage.rehearsal)[1])).toMatch(/delegations/);
  await expectPromisesKept(stage, run.workflowId);
});
