import type { WorkflowHandle } from '@temporalio/client';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openQuestion, refusalOf, submit } from '../../support/asking.ts';
import { bodyOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { runJudgedPlan } from '../../support/judged-plan.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { readTree } from '../../support/read-tree.ts';
import { runCommand } from '../../support/run-command.ts';
import { memberCalls, takes } from '../../support/scripted-triad.ts';
import {
  blocked,
  newestText,
  ownWorkflows,
  plan,
  plans,
  question,
  work,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const judgedIn = async (id: string) => (await storedRecord(stage.home, id)).waves[0]?.outcomes[0];

it('judges together, in a direct run, only what works on the criterion that requires it', async () => {
  const facts = work('facts', { criteria: ['goal-1'] });
  const advice = work('advice', { criteria: ['goal-2'] });
  stage.rehearsal.script([plans(1, plan([facts, advice]))]);
  const run = await stage.start('plannerRun', {
    goal: 'Advise a small office',
    criteria: ['Three ways are listed', 'One way is recommended'],
    verify: ['goal-2'],
    verify_triad: 'consensus',
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { waves } = await storedRecord(stage.home, run.workflowId);
  const judged = waves[0]?.outcomes.map(({ delegation_id, verification }) => [
    delegation_id,
    verification && [verification.status, verification.judgement?.executor.work.type],
  ]);
  expect(Object.fromEntries(judged ?? [])).toEqual({
    facts: undefined,
    advice: ['verified', 'consensus'],
  });
  await expectPromisesKept(stage, run.workflowId);
});

/** Starts a run whose judging triad asks in its last phase. */
function startAsking(limits: object): Promise<WorkflowHandle> {
  stage.rehearsal.script([
    plans(1, plan([work('advice', { criteria: ['goal-1'] })])),
    takes(
      { within: 'verify-1', phase: 'execute', nth: 1 },
      { json: blocked([question('Which office?')], 'judgement') },
    ),
  ]);
  return stage.start('plannerRun', {
    goal: 'Advise a small office',
    criteria: ['One way is recommended'],
    verify: ['goal-1'],
    verify_triad: 'dialectic',
    limits,
  });
}

it.each([
  ['in the wave', {}],
  ['in a workflow of its own', ownWorkflows],
])('asks the user as the delegation that it judges, which works %s', async (_where, limits) => {
  const run = await startAsking(limits);
  const { question_id, delegation_id } = await openQuestion(stage, run);
  expect(delegation_id).toBe('advice');
  await submit(run, { question_id, answer: 'The one in Basel' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(newestText(memberCalls(stage.rehearsal, { phase: 'execute' }).at(-1))).toContain('Basel');
  await expectPromisesKept(stage, run.workflowId);
});

it('has a triad judge an output that it did not write, and its writer gives the verdict', async () => {
  const id = await runJudgedPlan(stage, 'judged', 'List three ways.');
  const run = stage.client.workflow.getHandle(id);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const outcome = await judgedIn(id);
  expect(outcome?.verification).toMatchObject({
    verified_by: 'reviewer',
    status: 'verified',
    attempts: 1,
    judgement: {
      delegation_id: 'facts_1727539200.verify-1',
      executor: { kind: 'triad', work: { type: 'dialectic', dissent: [] } },
    },
  });
  const phases = outcome?.verification?.judgement?.executor.work.phases;
  expect(phases?.map(({ phase, status }) => [phase, status])).toEqual([
    ['deliberate', 'done'],
    ['negotiate', 'done'],
    ['execute', 'done'],
  ]);
  const calls = stage.rehearsal.calls();
  const members = calls.filter(({ turn }) => turn !== null);
  expect(new Set(members.map(({ turn }) => turn?.member))).toEqual(new Set(['pro', 'con', 'syn']));
  // Nobody who judges may run or change anything, whatever its file grants.
  const offered = members.flatMap((call) => bodyOf(call).tools ?? []).map(({ name }) => name);
  expect(offered).not.toContain('run_command');
  const told = members.map(({ body }) => JSON.stringify(body).split('allowed_tools>')[1] ?? '');
  expect(told.filter((tools) => tools.includes('run_command'))).toEqual([]);
  // Each sees the output and the evidence, and the verdict rests on what they agreed on.
  expect(members.every((call) => JSON.stringify(call.body).includes('three-ways'))).toBe(true);
  const verdict = calls.filter(({ shape }) => shape === 'verification');
  expect(verdict).toHaveLength(1);
  expect(JSON.stringify(verdict)).toContain('<triad_judgement>');
  await expectPromisesKept(stage, id);
});

it('has the output that fails made again, and judges it anew', async () => {
  const id = await runJudgedPlan(stage, 'judged-twice', 'List three ways. [failing]');
  expect(await stage.result(stage.client.workflow.getHandle(id))).toMatchObject({
    status: 'completed',
  });
  expect((await judgedIn(id))?.verification).toMatchObject({
    status: 'verified',
    attempts: 2,
    judgement: { delegation_id: 'facts_1727539200.verify-2' },
  });
  // The pages of both judgements are written again when they are lost.
  const pages = join(stage.home, id, 'triads');
  const written = await readTree(pages);
  expect(Object.keys(written).map((path) => path.split('/')[0])).toEqual(
    expect.arrayContaining(['facts_1727539200.verify-1', 'facts_1727539200.verify-2']),
  );
  rmSync(pages, { recursive: true });
  expect(await runCommand(stage, ['export', id])).toMatchObject({ code: 0 });
  expect(await readTree(pages)).toEqual(written);
});

it('passes nothing on whose judgement the triad did not agree: the user decides in the end', async () => {
  const id = await runJudgedPlan(stage, 'disputed', 'List three ways. [disagree]');
  const run = stage.client.workflow.getHandle(id);
  const asked = await eventually('the question after five failures', async () =>
    (await stage.questions(run)).open.at(0),
  );
  expect(asked).toMatchObject({ kind: 'verification', choices: ['modify', 'guide', 'abandon'] });
  const shown = join(stage.home, id, 'agents/fact_agent/verification_results.json');
  await eventually('the readable results', async () => existsSync(shown));
  await run.signal('stop', { reason: 'seen' });
  await stage.result(run).catch(() => null);
});

// Last: the terminated call leaves an artifact in the home that nothing names.
it('keeps an output whose judgement was terminated: the user decides, and it is judged again', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('advice', { criteria: ['goal-1'] })])),
    takes(
      { within: 'verify-1', phase: 'deliberate', nth: 1 },
      { stall: 'in-stream', afterEvents: 4, text: 'so far' },
    ),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Advise a small office',
    criteria: ['One way is recommended'],
    verify: ['goal-1'],
    verify_triad: 'dialectic',
  });
  await eventually(
    'a call of the judgement',
    async () => memberCalls(stage.rehearsal, { phase: 'deliberate' }).length > 0,
  );
  const place = `${run.workflowId}/wave-001/advice/verify-1/deliberate`;
  await stage.client.workflow.getHandle(place).terminate('by a test');
  expect(await openQuestion(stage, run)).toMatchObject({ kind: 'verification' });
  await submit(run, { question_id: 'q1', answer: 'guide' });
  await openQuestion(stage, run, 'q2');
  await submit(run, { question_id: 'q2', answer: 'Judge it again.' });
  const { status, usage } = await stage.result(run);
  expect(status).toBe('completed');
  expect(usage.calls + usage.unreported_calls).toBe(stage.rehearsal.calls().length);
  const outcome = await judgedIn(run.workflowId);
  expect(outcome?.verification).toMatchObject({ status: 'verified', attempts: 2 });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});

it.each([
  ['in the wave', {}],
  ['in a workflow of its own', ownWorkflows],
])('withdraws what a terminated judgement of work %s has asked', async (_where, limits) => {
  const run = await startAsking(limits);
  const { question_id } = await openQuestion(stage, run);
  const place = `${run.workflowId}/wave-001/advice/verify-1/execute`;
  await stage.client.workflow.getHandle(place).terminate('by a test');
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ kind: 'verification' });
  // The withdrawal of q1 may arrive after q2.
  await untilTold(stage, run.workflowId);
  const { open } = await stage.questions(run);
  expect(open.map((one) => one.question_id)).toEqual(['q2']);
  expect((await refusalOf(run, { question_id, answer: 'Basel' })).reason).toContain('withdrawn');
  await submit(run, { question_id: 'q2', answer: 'guide' });
  await openQuestion(stage, run, 'q3');
  await submit(run, { question_id: 'q3', answer: 'Judge it again.' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});

it('a judgement that is begun anew with its work and asks something else is answered, and its first question is withdrawn', async () => {
  const { agents, ...typed } = samplePlan();
  const roles = ['proposer', 'critic', 'synthesizer'] as const;
  const triad = {
    type: 'dialectic',
    reason: 'A wrong rate costs more than three calls.',
    members: roles.map((role) => ({ name: role, role, agent_id: 'reviewer' })),
  } as const;
  const task = planTask('rates');
  stage.rehearsal.script(
    ['Which office?', 'Which city?'].map((text, at) =>
      takes(
        { within: 'verify-1', phase: 'execute', nth: at + 1 },
        { json: blocked([question(text)], 'judgement') },
      ),
    ),
  );
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: {
      ...typed,
      agents: agents.flatMap((agent) =>
        agent.agent_name === 'api_agent' ? [] : agent.role === 'doer' ? agent : { ...agent, triad },
      ),
      tasks: [task],
      risks: [],
      new_agents: [],
    },
    auto_approve: true,
    limits: ownWorkflows,
  });
  await openQuestion(stage, run);
  const place = `${run.workflowId}/wave-001/${task.task_id}`;
  await stage.client.workflow.getHandle(place).terminate('by a test');
  // Both have the same number, as each attempt begins with the first.
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ text: 'Which city?' });
  await untilTold(stage, run.workflowId);
  const { open } = await stage.questions(run);
  expect(open.map((one) => one.question_id)).toEqual(['q2']);
  await submit(run, { question_id: 'q2', answer: 'Basel' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(newestText(memberCalls(stage.rehearsal, { phase: 'execute' }).at(-1))).toContain('Basel');
  await expectPromisesKept(stage, run.workflowId, { lostUsage: true, orphans: true });
});
