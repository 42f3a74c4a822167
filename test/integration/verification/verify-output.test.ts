import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import { eventually } from '../../support/eventually.ts';
import { completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const start = (task_description: string): Promise<WorkflowHandle> =>
  stage.start('delegation', { agent_id: 'writer', task_description, verify: true });

async function answer(run: WorkflowHandle, given: string): Promise<Question> {
  const question = await eventually('a question', async () =>
    (await stage.questions(run)).open.at(0),
  );
  await run.signal('answer', { question_id: question.question_id, answer: given });
  await eventually('no open question', async () =>
    (await stage.questions(run)).open.every((one) => one.question_id !== question.question_id),
  );
  return question;
}

const resultsOf = (run: WorkflowHandle): string =>
  join(stage.home, run.workflowId, 'agents/writer/verification_results.json');

it('verifies an output by another agent before it counts', async () => {
  const run = await start('Write a line.');
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { verified_by: 'reviewer', status: 'verified', attempts: 1 },
  });
});

it.each<['triad' | 'team', object]>([
  ['triad', { type: 'dialectic', task: 'Write a line.' }],
  ['team', { members: ['researcher', 'writer'], message: 'Write a line.' }],
])('verifies the answer of a %s that was started alone', async (type, input) => {
  const run = await stage.start(type, { ...input, verify: true });
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 1 },
  });
});

it('lets a verifier load the whole of the output that it judges', async () => {
  const advice = work('advice', { criteria: ['goal-1'] });
  const loads = { tool_use: [{ name: 'load_detail', input: { detail_id: 'advice' } }] };
  stage.rehearsal.script([
    plans(1, plan([advice])),
    works('advice', { json: completed('goal-1') }),
    { match: { schema: 'verification', nth: 1 }, reply: loads },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Advise a small office',
    criteria: ['One way is recommended'],
    verify: ['goal-1'],
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const calls = stage.rehearsal.calls().filter(({ shape }) => shape === 'verification');
  expect(JSON.stringify(calls[1]?.body)).toContain('Page 1 of 1: the end of');
});

it('verifies in a direct run only what works on the criterion that requires it', async () => {
  const delegations = [
    work('facts', { criteria: ['goal-1'] }),
    work('advice', { criteria: ['goal-2'] }),
  ];
  stage.rehearsal.script([plans(1, plan(delegations))]);
  const run = await stage.start('plannerRun', {
    goal: 'Advise a small office',
    criteria: ['Three ways are listed', 'One way is recommended'],
    verify: ['goal-2'],
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { waves } = await storedRecord(stage.home, run.workflowId);
  const verified = waves[0]?.outcomes.map(({ delegation_id, verification }) => [
    delegation_id,
    verification?.status,
  ]);
  expect(Object.fromEntries(verified ?? [])).toEqual({ facts: undefined, advice: 'verified' });
});

it('begins anew after a failed verification, and deletes the results when the next one passes', async () => {
  const run = await start('Write a line. [failing]');
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 2 },
  });
  expect(existsSync(resultsOf(run))).toBe(false);
});

it('asks the user after five failures, goes on with new instructions, and ends unverified when abandoned', async () => {
  const task = `Write a line. [unverifiable] ${'Mind the tone. '.repeat(60)}End with a full stop.`;
  const modified = await start(task);
  const question = await answer(modified, 'modify');
  expect(question).toMatchObject({ kind: 'verification', choices: ['modify', 'guide', 'abandon'] });
  expect(question.text).toMatch(
    /^The output of \S+ \(.+\) failed its verification by reviewer, 5 times\./,
  );
  expect(question.text).toContain('Instructions: Write a line.');
  const feedback = [5, 4, 3, 2, 1].map((nth) => `${nth}. Rehearsal: a mark in the task`);
  expect(question.text.match(/\d\. Rehearsal: a mark in the task/g)).toEqual(feedback);
  // What a question has no room for is one command away.
  const [, ref = ''] = /artifact ([0-9a-f]{64})/.exec(question.text) ?? [];
  const whole = await storedText(stage.home, ref);
  expect(whole).toContain('End with a full stop.');
  expect(whole.match(/^### \d\. /gm)).toHaveLength(5);
  expect(whole).toContain('## The output that failed last');
  await eventually('the readable results', async () => existsSync(resultsOf(modified)));
  await answer(modified, 'Write two lines.');
  expect(await stage.result(modified)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 6 },
  });
  const abandoned = await start('Write another line. [unverifiable]');
  await answer(abandoned, 'abandon');
  expect(await stage.result(abandoned)).toMatchObject({
    status: 'failed',
    criteria_met: [],
    reason: "It was abandoned by the user's answer to q1, after 5 verifications.",
    verification: { status: 'abandoned', attempts: 5, output_ref: null },
  });
});
