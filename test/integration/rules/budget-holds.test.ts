import type { WorkflowHandle } from '@temporalio/client';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannerRunInput, PlannerRunResult } from '../../../contracts/planner-run.ts';
import type { BudgetView } from '../../../contracts/views.ts';
import { openQuestion, refusalOf, submit } from '../../support/asking.ts';
import { untilAsked } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { resetRun } from '../../support/histories.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  held,
  ownWorkflows,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Until the workflow is gone. */
const stalls = { stall: 'in-stream', afterEvents: 4, text: 'so far' } as const;

async function spentBy({ client }: Stage, runId: string): Promise<string> {
  const run = client.workflow.getHandle(runId);
  return (await run.query<BudgetView>('budget')).spent;
}

/** Raises the budget whenever the run asks, until its end. */
async function endRaised(own: Stage, run: WorkflowHandle): Promise<PlannerRunResult> {
  await eventually('the end', async () => {
    const { open } = await own.questions(run);
    const [asked] = open.filter(({ kind }) => kind === 'budget');
    if (asked) await submit(run, { question_id: asked.question_id, answer: 'top_up' });
    return (await run.describe()).status.name !== 'RUNNING';
  });
  return own.result(run);
}

/** Terminates the child of a workflow that works, and waits until the ledger was asked what it used. */
async function terminateChild({ client }: Stage, parentId: string): Promise<void> {
  const parent = client.workflow.getHandle(parentId);
  const [child] = (await parent.describe()).raw.pendingChildren ?? [];
  await client.workflow.getHandle(child?.workflowId ?? '').terminate('by a test');
  await eventually('what it used', async () => {
    const events = (await parent.fetchHistory()).events ?? [];
    const end = events.findIndex((event) => event.childWorkflowExecutionTerminatedEventAttributes);
    const isAfter = (at: number): boolean => end !== -1 && at > end;
    return events.some((event, at) => isAfter(at) && event.activityTaskCompletedEventAttributes);
  });
}

/** Terminates a phase of a judgement that waits for budget, and has the output judged again before the budget is raised. */
async function judgeAgain(
  own: Stage,
  { id, limits, parentId }: { id: string; limits: object; parentId: string },
): Promise<PlannerRunResult> {
  own.rehearsal.script([plans(1, plan([work('advice', { criteria: ['goal-1'] })]))]);
  const input: PlannerRunInput = {
    goal: 'Advise a small office',
    criteria: ['One way is recommended'],
    verify: ['goal-1'],
    verify_triad: 'dialectic',
    budget: { calls: 6 },
    limits,
  };
  const run = await own.start('plannerRun', input, id);
  expect(await openQuestion(own, run)).toMatchObject({ kind: 'budget' });
  await terminateChild(own, parentId);
  expect(await openQuestion(own, run, 'q2')).toMatchObject({ kind: 'verification' });
  await submit(run, { question_id: 'q2', answer: 'guide' });
  await openQuestion(own, run, 'q3');
  await submit(run, { question_id: 'q3', answer: 'Judge it again.' });
  // The new judgement waits for the same answer.
  await untilIdle(own, id);
  return endRaised(own, run);
}

// A part that is terminated leaves its run waiting for ten seconds: all wait at the same time, each on a stage of its own.
describe.concurrent('what is terminated', () => {
  it('finding T2: a wave that is terminated has spent what its calls used, and no request passes the limit', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    own.rehearsal.script([
      plans(1, plan([work('long')])),
      plans(2, plan([work('long')])),
      works('long', stalls),
    ]);
    const input: PlannerRunInput = { goal: 'Host the backup', budget: { calls: 3 } };
    const run = await own.start('plannerRun', input, 'lost');
    await eventually('the call of the wave', async () => callsOf(own.rehearsal, 'long').length > 0);
    await own.client.workflow.getHandle('lost/wave-001').terminate('by a test');
    const lost = await openQuestion(own, run);
    expect(lost.why_it_matters).toContain('one that never told its end at its worst case: 2 of 3');
    await submit(run, { question_id: 'q1', answer: 'retry' });
    // The third call plans the next wave.
    expect(await openQuestion(own, run, 'q2')).toMatchObject({ kind: 'budget' });
    expect(own.rehearsal.calls()).toHaveLength(3);
    await submit(run, { question_id: 'q2', answer: 'finish' });
    const result = await own.result(run);
    expect(result.usage.calls + result.usage.unreported_calls).toBe(3);
    expect(await spentBy(own, 'lost')).toContain('3 of 3 calls');
    await expectPromisesKept(own, 'lost', { lostUsage: true, orphans: true });
  });

  it('RB3: a top_up is kept when its wave is terminated, once', async ({ onTestFinished }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    own.rehearsal.script([
      plans(1, plan([work('long')])),
      plans(2, plan([work('again', { criteria: ['long-done'] })])),
      works('long', stalls),
      works('again', { json: completed('long-done') }),
    ]);
    const input: PlannerRunInput = { goal: 'Host the backup', budget: { calls: 1 } };
    const run = await own.start('plannerRun', input, 'raised');
    // The plan is all that one call is enough for.
    expect(await openQuestion(own, run)).toMatchObject({ kind: 'budget' });
    await submit(run, { question_id: 'q1', answer: 'top_up' });
    await eventually('the call of the wave', async () => callsOf(own.rehearsal, 'long').length > 0);
    await own.client.workflow.getHandle('raised/wave-001').terminate('by a test');
    expect((await openQuestion(own, run, 'q2')).why_it_matters).toContain('2 of 2 calls');
    expect(await spentBy(own, 'raised')).toContain('2 of 2 calls');
    await submit(run, { question_id: 'q2', answer: 'retry' });
    const spent = await openQuestion(own, run, 'q3');
    expect(spent.text).toContain('2 of 2 calls');
    // The wave that is not lost tells of its top-up itself.
    await submit(run, { question_id: 'q3', answer: 'top_up' });
    await openQuestion(own, run, 'q4');
    await submit(run, { question_id: 'q4', answer: 'finish' });
    await own.result(run);
    const { budget } = await run.query<BudgetView>('budget');
    expect(budget?.run.calls).toBe(3);
  });

  it('finding T2: a delegation that is terminated has spent what its calls used', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    own.rehearsal.script([
      plans(1, plan([work('lost'), work('free')])),
      works('lost', stalls),
      works('free', { json: completed('free-done') }),
      plans(2, plan([work('again', { criteria: ['lost-done'] })])),
      works('again', { json: completed('lost-done') }),
    ]);
    const input: PlannerRunInput = {
      goal: 'Host the backup',
      budget: { calls: 100 },
      limits: ownWorkflows,
    };
    const run = await own.start('plannerRun', input, 'partly');
    await eventually('the call', async () => callsOf(own.rehearsal, 'lost').length > 0);
    await own.client.workflow.getHandle('partly/wave-001/lost').terminate('by a test');
    const { status, usage } = await own.result(run);
    expect(status).toBe('completed');
    expect(usage.calls + usage.unreported_calls).toBe(own.rehearsal.calls().length);
    expect(await spentBy(own, 'partly')).toContain(`${own.rehearsal.calls().length} of 100 calls`);
    await expectPromisesKept(own, 'partly', { lostUsage: true, orphans: true });
  });

  it('a question about the budget of a wave is withdrawn when its wave has ended', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    const again = held({ json: completed('poem-done') });
    own.rehearsal.script([
      plans(1, plan([work('poem', { agent_id: 'poet' })])),
      plans(2, plan([work('again', { criteria: ['poem-done'] })])),
      works('again', again.reply),
    ]);
    // The planner's calls fit into what is left, one of this agent does not.
    const agents_dir = join(own.home, 'agents');
    mkdirSync(agents_dir);
    const head = '---\nname: poet\ndescription: Knows all poems.\n---\n\n';
    writeFileSync(join(agents_dir, 'poet.md'), `${head}${'詩'.repeat(49_000)}`);
    const input: PlannerRunInput = {
      goal: 'Write a poem',
      agents_dir,
      budget: { tokens: 120_000 },
      limits: { ...ownWorkflows, max_output_tokens: 4_000 },
    };
    const run = await own.start('plannerRun', input, 'outlived');
    const { question_id, kind, delegation_id } = await openQuestion(own, run);
    expect([kind, delegation_id]).toEqual(['budget', null]);
    await terminateChild(own, 'outlived/wave-001');
    await eventually('the next wave', async () => callsOf(own.rehearsal, 'again').length > 0);
    expect((await own.questions(run)).open).toEqual([]);
    const { reason } = await refusalOf(run, { question_id, answer: 'top_up' });
    expect(reason).toContain('withdrawn');
    again.release();
    expect(await own.result(run)).toMatchObject({ status: 'completed', waves: 2 });
    await expectPromisesKept(own, 'outlived', { lostUsage: true, orphans: true });
  });

  it('BA2: a task of a plan that waits for budget gets the top_up in its next attempt', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    const { agents, ...sample } = samplePlan();
    const input: PlannerRunInput = {
      goal: 'Ship',
      plan: {
        ...sample,
        agents: agents.filter(({ agent_name }) => agent_name !== 'api_agent'),
        tasks: [planTask('rates')],
        risks: [],
      },
      auto_approve: true,
      budget: { calls: 1 },
      limits: ownWorkflows,
    };
    const run = await own.start('plannerRun', input, 'anew');
    expect(await openQuestion(own, run)).toMatchObject({ kind: 'budget' });
    await terminateChild(own, 'anew/wave-001');
    // The next attempt waits for the same answer.
    await untilIdle(own, 'anew');
    expect(await endRaised(own, run)).toMatchObject({ status: 'completed', waves: 1 });
    await expectPromisesKept(own, 'anew', { lostUsage: true, orphans: true });
  });

  it('BA2: a judgement that waits for budget, of work in its wave, gets the top_up when it is made again', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    const parentId = 'judged-in/wave-001';
    const result = await judgeAgain(own, { id: 'judged-in', limits: {}, parentId });
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    await expectPromisesKept(own, 'judged-in', { lostUsage: true, orphans: true });
  });

  it('BA2: a judgement that waits for budget, of work in a workflow of its own, gets the top_up when it is made again', async ({
    onTestFinished,
  }) => {
    const own = await openStage();
    onTestFinished(() => own.close());
    const parentId = 'judged-own/wave-001/advice';
    const result = await judgeAgain(own, { id: 'judged-own', limits: ownWorkflows, parentId });
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    await expectPromisesKept(own, 'judged-own', { lostUsage: true, orphans: true });
  });
});

it('finding T2: a reset gives nothing back: what was spent before it counts, and no request passes the limit', async () => {
  stage.rehearsal.script([
    { match: { schema: 'plan' }, reply: { json: plan([work('long')]) } },
    works('long', stalls, 1),
    works('long', { json: completed('long-done') }),
  ]);
  const input: PlannerRunInput = { goal: 'Host the backup', budget: { calls: 4 } };
  const run = await stage.start('plannerRun', input, 'reset');
  await eventually('the call of the wave', async () => callsOf(stage.rehearsal, 'long').length > 0);
  const again = await resetRun(stage.client, run);
  // Plan and call of the old wave, plan and call of the new one; the decision does not fit.
  await eventually('all calls', async () => stage.rehearsal.calls().length === 4);
  expect(await openQuestion(stage, again)).toMatchObject({
    kind: 'budget',
    text: expect.stringContaining('4 of 4 calls'),
  });
  expect(stage.rehearsal.calls()).toHaveLength(4);
  await submit(again, { question_id: 'q1', answer: 'finish' });
  const { usage } = await stage.result(again);
  expect(usage.calls + usage.unreported_calls).toBe(4);
});

it('a reset gives nothing back that a design has spent', async () => {
  stage.rehearsal.script([
    { match: { bodyIncludes: 'stage=\\"interview\\"', nth: 1 }, reply: stalls },
  ]);
  const input: PlannerRunInput = {
    goal: 'Host the backup',
    mode: 'designed',
    budget: { calls: 3 },
  };
  const run = await stage.start('plannerRun', input, 'redesigned');
  await eventually('the first call', async () => stage.rehearsal.calls().length > 0);
  const again = await resetRun(stage.client, run);
  const { question_id, text } = await untilAsked(stage, again, 'budget');
  expect(text).toContain('3 of 3 calls');
  expect(stage.rehearsal.calls()).toHaveLength(3);
  await submit(again, { question_id, answer: 'finish' });
  const { usage } = await stage.result(again);
  expect(usage.calls + usage.unreported_calls).toBe(3);
});

it('a reset to its beginning gives a delegation alone nothing back', async () => {
  stage.rehearsal.script([{ match: { schema: 'delegation', nth: 1 }, reply: stalls }]);
  const input = { agent_id: 'writer', task_description: 'Host the backup', budget: { calls: 1 } };
  const run = await stage.start('delegation', input, 'alone');
  await eventually('the first call', async () => stage.rehearsal.calls().length > 0);
  const again = await resetRun(stage.client, run);
  const { question_id, kind, text } = await openQuestion(stage, again);
  expect([kind, text]).toEqual(['budget', expect.stringContaining('1 of 1 calls')]);
  await submit(again, { question_id, answer: 'finish' });
  expect(await again.result()).toMatchObject({ status: 'failed' });
  expect(stage.rehearsal.calls()).toHaveLength(1);
});

it('finding T2: a run that is cancelled has spent what its calls used', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('one'), work('two')])),
    { match: { schema: 'delegation' }, reply: stalls },
  ]);
  const input: PlannerRunInput = { goal: 'Host the backup', budget: { calls: 3 } };
  const run = await stage.start('plannerRun', input, 'cancelled');
  await eventually('two calls', async () => stage.rehearsal.calls().length === 3);
  await run.cancel();
  const { status, usage } = await stage.result(run);
  expect(status).toBe('stopped');
  expect(usage.calls + usage.unreported_calls).toBe(3);
  expect(stage.rehearsal.calls()).toHaveLength(3);
  await expectPromisesKept(stage, 'cancelled', { orphans: true });
});
