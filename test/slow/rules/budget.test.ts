import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import type { BudgetView } from '../../../contracts/views.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, decision, plan, plans, work, works } from '../../support/scripted-work.ts';
import type { ScriptRule } from '../../../rehearsal/script.ts';
import { useStage } from '../../support/use-stage.ts';

const model = 'claude-sonnet-5-5';
const { stage } = useStage({ settings: { isRehearsal: false, defaultModel: model } });

const ids = Array.from({ length: 20 }, (_, index) => `part-${index + 1}`);

/** One wave of twenty delegations that could all work at once. */
const crowd: readonly ScriptRule[] = [
  plans(1, plan(ids.map((id) => work(id)))),
  ...ids.map((id) => works(id, { json: completed(`${id}-done`) })),
  { match: { schema: 'decision' }, reply: { json: decision() } },
];

function start(input: Partial<PlannerRunInput>): Promise<WorkflowHandle> {
  return stage.start('plannerRun', {
    goal: 'Do twenty things',
    limits: { max_parallel: 20, max_waves: 1 },
    ...input,
  });
}

it('twenty at once against a budget for seven calls: never more, one question, and top_up goes on', async () => {
  stage.rehearsal.script(crowd);
  const run = await start({ budget: { calls: 7 } });
  const question = await openQuestion(stage, run);
  expect(question).toMatchObject({ kind: 'budget', choices: ['top_up', 'finish', 'abandon'] });
  expect(question.text).toContain('7 of 7 calls');
  expect(stage.rehearsal.calls()).toHaveLength(7);

  await submit(run, { question_id: 'q1', answer: 'top_up' });
  await openQuestion(stage, run, 'q2');
  expect(stage.rehearsal.calls()).toHaveLength(14);
  await submit(run, { question_id: 'q2', answer: 'top_up' });
  await openQuestion(stage, run, 'q3');
  expect(stage.rehearsal.calls()).toHaveLength(21);
  await submit(run, { question_id: 'q3', answer: 'top_up' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', usage: { calls: 22 } });
  const { budget, spent } = await run.query<BudgetView>('budget');
  expect(budget?.run.calls).toBe(28);
  expect(spent).toBe('22 of 28 calls');
  await expectPromisesKept(stage, run.workflowId);
});

it('money is never passed by a cent, and finish ends the run with what there is', async () => {
  stage.rehearsal.script(crowd);
  const usd = 0.15;
  const run = await start({
    budget: { usd },
    limits: { max_parallel: 20, max_waves: 1, max_output_tokens: 4_000 },
  });
  await openQuestion(stage, run);
  const before = stage.rehearsal.calls().length;
  expect(before).toBeGreaterThan(2);
  expect(before).toBeLessThan(22);
  await submit(run, { question_id: 'q1', answer: 'finish' });
  const result = await stage.result(run);
  expect(result.status).toBe('finished_unmet');
  expect(result.usage.cost_micro_usd).toBeGreaterThan(0);
  expect(result.usage.cost_micro_usd).toBeLessThanOrEqual(usd * 1_000_000);
  expect(stage.rehearsal.calls()).toHaveLength(before);
  await expectPromisesKept(stage, run.workflowId);
});

it('a budget of the wave: finish ends the wave, and the planner still decides on it', async () => {
  stage.rehearsal.script(crowd.slice(0, -1));
  const run = await start({ budget: { wave: { calls: 4 } } });
  const question = await openQuestion(stage, run);
  expect(question.text).toContain('The budget of the wave is spent: 4 of 4 calls');
  await submit(run, { question_id: 'q1', answer: 'finish' });
  // The one wave that was allowed is over, with a decision.
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ kind: 'waves_spent' });
  await submit(run, { question_id: 'q2', answer: 'finish' });
  const result = await stage.result(run);
  expect(result.status).toBe('finished_unmet');
  expect(result.criteria.filter(({ state }) => state === 'met')).toHaveLength(3);
  expect(stage.rehearsal.calls()).toHaveLength(5);
  await expectPromisesKept(stage, run.workflowId);
});

it('a budget of each delegation: one that can not stop asks, and fails alone', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('endless'), work('brief')])),
    works('endless', { json: {} }),
    works('brief', { json: completed('brief-done') }),
    { match: { schema: 'decision' }, reply: { json: decision('endless-done') } },
  ]);
  const run = await start({ budget: { delegation: { calls: 2 } } });
  const question = await openQuestion(stage, run);
  expect(question).toMatchObject({ kind: 'budget', delegation_id: 'endless' });
  await submit(run, { question_id: 'q1', answer: 'finish' });
  await openQuestion(stage, run, 'q2');
  await submit(run, { question_id: 'q2', answer: 'finish' });
  const { criteria } = await stage.result(run);
  expect(criteria).toMatchObject([
    { criterion_id: 'endless-done', state: 'open', reason: expect.stringContaining('budget') },
    { criterion_id: 'brief-done', state: 'met' },
  ]);
  await expectPromisesKept(stage, run.workflowId);
});

it('abandon ends the run, and what was spent is kept', async () => {
  stage.rehearsal.script(crowd);
  const run = await start({ budget: { calls: 3 } });
  await openQuestion(stage, run);
  await submit(run, { question_id: 'q1', answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned', usage: { calls: 3 } });
  await expectPromisesKept(stage, run.workflowId);
});

it('the calls of a delegation alone are counted on after its worker was replaced', async () => {
  stage.rehearsal.script([{ times: 1, reply: { json: {} } }, { reply: { json: completed('c1') } }]);
  const run = await stage.start('delegation', {
    agent_id: 'researcher',
    task_description: 'Say something',
    budget: { calls: 1 },
  });
  await openQuestion(stage, run);
  await stage.stopWorker();
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'top_up' });
  expect(await run.result()).toMatchObject({ status: 'completed', usage: { calls: 2 } });
  await expectPromisesKept(stage, run.workflowId);
});

it('a call that may take more than there is counts as no turn, while somebody is asked and at the end', async () => {
  const run = await stage.start('delegation', {
    agent_id: 'researcher',
    task_description: 'Say something',
    budget: { tokens: 1_000 },
  });
  await openQuestion(stage, run);
  expect((await stage.status(run)).delegation).toMatchObject({ turn: 0, usage: { calls: 0 } });
  await submit(run, { question_id: 'q1', answer: 'finish' });
  expect(await run.result()).toMatchObject({ status: 'failed', turns: 0, usage: { calls: 0 } });
  expect(stage.rehearsal.calls()).toEqual([]);
  await expectPromisesKept(stage, run.workflowId);
});

it('three siblings that fail for the same reason stop the rest of the wave', async () => {
  stage.rehearsal.script([
    plans(1, plan(ids.map((id) => work(id)))),
    { match: { schema: 'delegation' }, reply: { status: 400 } },
  ]);
  const run = await start({ limits: { max_parallel: 1, max_waves: 1 } });
  await openQuestion(stage, run);
  await submit(run, { question_id: 'q1', answer: 'finish' });
  await stage.result(run);
  // A plan, three that fail, and a decision.
  expect(stage.rehearsal.calls()).toHaveLength(5);
  await expectPromisesKept(stage, run.workflowId);
});

it('money alone is refused as a limit where no price is known', async () => {
  const unpricedAgents = join(stage.home, 'agents');
  mkdirSync(unpricedAgents);
  writeFileSync(
    join(unpricedAgents, 'poet.md'),
    '---\nname: poet\ndescription: Writes poems on a model of its own.\nmodel: poem-1\n---\n\nYou write poems.\n',
  );
  const run = await stage.start('plannerRun', {
    goal: 'Spend',
    agents_dir: unpricedAgents,
    budget: { usd: 1 },
  });
  await expect(run.result()).rejects.toMatchObject({
    cause: { type: 'InvalidInput', message: expect.stringContaining('budget.usd: the price') },
  });
});

it('finding T2: calls of a gateway with names of its own cost what the requested model costs', async () => {
  const names = { model: 'sonnet-via-gateway' };
  stage.rehearsal.script([
    plans(1, plan(ids.map((id) => work(id)))),
    ...ids.map((id) => works(id, { json: completed(`${id}-done`), ...names })),
    { match: { schema: 'decision' }, reply: { json: decision(), ...names } },
  ]);
  const usd = 0.15;
  const run = await start({
    budget: { usd },
    limits: { max_parallel: 20, max_waves: 1, max_output_tokens: 4_000 },
  });
  await openQuestion(stage, run);
  expect(stage.rehearsal.calls().length).toBeLessThan(22);
  await submit(run, { question_id: 'q1', answer: 'finish' });
  const { usage } = await stage.result(run);
  expect(usage.unpriced_calls).toBe(0);
  expect(usage.cost_micro_usd).toBeGreaterThan(0);
  expect(usage.cost_micro_usd).toBeLessThanOrEqual(usd * 1_000_000);
});
