import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WrittenDelegation } from '../../../contracts/delegation.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';
const criteria = ['Restored once.'];

function firstTry(): WrittenDelegation {
  return work('first', { criteria: ['goal-1', 'first-done'] });
}

const halfDone = {
  ...completed('first-done'),
  coverage: {
    ...completed('first-done').coverage,
    criteria_unmet: [{ criterion_id: 'goal-1', reason: 'the disk was full' }],
  },
};

it('a run goes on while a criterion is open, whatever the planner says, and ends when it is met', async () => {
  stage.rehearsal.script([
    plans(1, plan([firstTry()])),
    works('first', { json: halfDone }),
    // The planner calls it done; that is refused, and it mends its decision.
    { match: { schema: 'decision', nth: 1 }, reply: { json: decision() } },
    { match: { schema: 'decision', nth: 2 }, reply: { json: decision('goal-1') } },
    plans(2, plan([work('second', { criteria: ['goal-1'], agent_id: 'engineer' })])),
    works('second', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(result.criteria.map(({ state }) => state)).toEqual(['met', 'met']);
  const decisions = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(newestText(decisions[1])).toContain(
    'io_status is \\"OK\\" but these criteria are open: \\"goal-1\\"',
  );
  // The next planning knows what is open, what was decided, and which details exist.
  const second = newestText(planCalls(stage.rehearsal)[1]);
  expect(second).toContain('"criterion_id":"goal-1"');
  expect(second).not.toContain('"criterion_id":"first-done"');
  expect(second).toContain('Open: goal-1.');
  expect(second).toContain(
    '<known_inputs>[{"name":"goal"},{"name":"first","title":"Task first"}]</known_inputs>',
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('a criterion that the planner reopens is open again', async () => {
  const reopened = [{ criterion_id: 'goal-1', reason: 'the evidence is of another backup' }];
  stage.rehearsal.script([
    plans(1, plan([firstTry()])),
    works('first', { json: completed('goal-1', 'first-done') }),
    {
      match: { schema: 'decision', nth: 1 },
      reply: { json: { ...decision('goal-1'), criteria_reopened: reopened } },
    },
    plans(2, plan([work('second', { criteria: ['goal-1'] })])),
    works('second', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  expect(callsOf(stage.rehearsal, 'second').length).toBeGreaterThan(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('a planner that asks with its decision gets the answer into the next planning', async () => {
  const asks = {
    ...decision('goal-1'),
    needs_user_input: true,
    user_questions: [question('Buy a disk?', { expected_answer_format: 'boolean' })],
  };
  stage.rehearsal.script([
    plans(1, plan([firstTry()])),
    works('first', { json: halfDone }),
    { match: { schema: 'decision', nth: 1 }, reply: { json: asks } },
    plans(2, plan([work('second', { criteria: ['goal-1'] })])),
    works('second', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria });
  const { question_id } = await openQuestion(stage, run);
  expect(planCalls(stage.rehearsal)).toHaveLength(1);
  await submit(run, { question_id, answer: 'yes' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  expect(newestText(planCalls(stage.rehearsal)[1])).toContain('"answer":"true"');
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  ['continue', { status: 'completed', waves: 2 }, ['met', 'met']],
  ['finish', { status: 'finished_unmet', waves: 1 }, ['open', 'met']],
  ['waive', { status: 'completed', waves: 1 }, ['waived', 'met']],
  ['abandon', { status: 'abandoned', waves: 1 }, ['open', 'met']],
])('when the waves are spent the user decides: %s', async (answer, expected, states) => {
  stage.rehearsal.script([
    plans(1, plan([firstTry()])),
    works('first', { json: halfDone }),
    plans(2, plan([work('second', { criteria: ['goal-1'] })])),
    works('second', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria, limits: { max_waves: 1 } });
  const spent = await openQuestion(stage, run);
  expect(spent).toMatchObject({
    kind: 'waves_spent',
    priority: 'critical',
    choices: ['continue', 'finish', 'waive', 'abandon'],
    text: '1 wave is done and criteria are still open: goal-1. What now?',
  });
  await submit(run, { question_id: spent.question_id, answer });
  const result = await stage.result(run);
  expect(result).toMatchObject(expected);
  expect(result.criteria.map(({ state }) => state)).toEqual(states);
  expect(planCalls(stage.rehearsal)).toHaveLength(expected.waves);
  const text = readFileSync(join(stage.home, result.report_path), 'utf8');
  expect(text.includes('the disk was full')).toBe(expected.status !== 'completed');
  await expectPromisesKept(stage, run.workflowId);
});

it('the same question a third time is not put to the user again', async () => {
  const asks = { json: blocked([question('Which region?')], 'host-done') };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', asks, 1),
    works('host', asks, 2),
    works('host', { json: blocked([question('which   REGION?')], 'host-done') }, 3),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  for (const question_id of ['q1', 'q2']) {
    await openQuestion(stage, run, question_id);
    await submit(run, { question_id, answer: `eu-west, says ${question_id}` });
  }
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const calls = callsOf(stage.rehearsal, 'host');
  expect(calls).toHaveLength(4);
  expect(newestText(calls[3])).toContain(
    'This question was asked 2 times before and is not put to the user again. The answer to q2 was: \\"eu-west, says q2\\".',
  );
  // It is refused by code, so no planner is paid to review it.
  expect(stage.rehearsal.calls().filter(({ shape }) => shape === 'review')).toHaveLength(2);
  const { open, answered } = await stage.questions(run);
  expect([open.length, answered.length]).toEqual([0, 2]);
  await expectPromisesKept(stage, run.workflowId);
});

it('a task whose questions are only refused ends with the third refusal', async () => {
  const asks = { json: blocked([question('Which region?')], 'host-done') };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    ...[1, 2, 3, 4, 5, 6].map((nth) => works('host', asks, nth)),
  ]);
  const run = await stage.start('plannerRun', { goal, limits: { max_waves: 1 } });
  for (const question_id of ['q1', 'q2', 'q3']) {
    await openQuestion(stage, run, question_id);
    await submit(run, { question_id, answer: question_id === 'q3' ? 'finish' : 'eu-west' });
  }
  const result = await stage.result(run);
  expect(result.status).toBe('finished_unmet');
  expect(result.criteria[0]?.reason).toContain('all its questions were refused 3 times');
  expect(callsOf(stage.rehearsal, 'host')).toHaveLength(5);
  await expectPromisesKept(stage, run.workflowId);
});

function theSame(id: string, task_description = 'Meet the goal.'): WrittenDelegation {
  return work(id, { criteria: ['goal-1'], task_description });
}

it('finding F11: the third task of an agent for the same criterion is taken when it is another task', async () => {
  stage.rehearsal.script([
    plans(1, plan([theSame('try-1')])),
    plans(2, plan([theSame('try-2')])),
    plans(3, plan([theSame('try-3', 'Meet the goal by the other way.')])),
    works('try-1', { json: unmet('failed', 'no luck', 'goal-1') }),
    works('try-2', { json: unmet('completed', 'no luck again', 'goal-1') }),
    works('try-3', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  expect(planCalls(stage.rehearsal)).toHaveLength(3);
});

it('the same agent with the same task, inputs and criteria a third time is refused', async () => {
  stage.rehearsal.script([
    plans(1, plan([theSame('try-1')])),
    plans(2, plan([theSame('try-2')])),
    plans(3, plan([theSame('try-3')])),
    plans(4, plan([work('other', { criteria: ['goal-1'], agent_id: 'engineer' })])),
    works('try-1', { json: unmet('failed', 'no luck', 'goal-1') }),
    works('try-2', { json: unmet('completed', 'no luck again', 'goal-1') }),
    works('other', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  expect(newestText(planCalls(stage.rehearsal)[3])).toContain(
    'the same agent with the same task, inputs and criteria ran twice without result',
  );
  expect(callsOf(stage.rehearsal, 'try-3')).toEqual([]);
  await expectPromisesKept(stage, run.workflowId);
});
