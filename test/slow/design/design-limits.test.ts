import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import { engineLimits } from '../../../core/limits.ts';
import { readHistorySize } from '../../bench/history-size.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { designOfTasks, listStages, readStage } from '../../support/scripted-design.ts';
import { atOnce } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

const riskStages = new Set([
  'research',
  'consultation',
  'poc_recommendation',
  'poc_integration',
  'best_practices',
]);

const historyBytesMax = 200 * 1024;

it('a designer that never mends its findings: after three repairs they stand in the question, and no approval comes by itself', async () => {
  const run = await stage.start('architectureDesign', {
    goal: `${goal} [unmended]`,
    use_defaults: true,
    auto_approve: true,
  });
  const question = await untilKind(run, 'plan_approval');
  expect(question.text).toContain('1 finding left: tasks/0/instructions');
  const stages = listStages(stage.rehearsal.calls());
  expect(count(stages, 'design_review')).toBe(engineLimits.designRepairsMax + 1);
  // One more brought the parts together.
  expect(count(stages, 'design_change')).toBe(engineLimits.designRepairsMax + 1);
  await submit(run, { question_id: question.question_id, answer: 'approve' });
  expect(await run.result()).toMatchObject({
    status: 'approved',
    approved_by: question.question_id,
    findings: [{ rule: 'verifier', path: 'tasks/0/instructions' }],
  });
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  ['finish', 'finished'],
  ['abandon', 'abandoned'],
] as const)('a spent budget and %s: the design is %s', async (answer, status) => {
  const run = await stage.start('architectureDesign', { goal, budget: { calls: 3 } });
  await answerInterview(run);
  const question = await untilKind(run, 'budget');
  await submit(run, { question_id: question.question_id, answer });
  expect(await run.result()).toMatchObject({ status, usage: { calls: 3 }, approved_by: null });
  expect(stage.rehearsal.calls()).toHaveLength(3);
  await expectPromisesKept(stage, run.workflowId);
});

it('an interview without an answer: it is reminded, buys nothing meanwhile, and goes on with the late answer', async () => {
  const run = await stage.start('architectureDesign', {
    goal,
    auto_approve: true,
    questions: { remind_seconds: 1 },
  });
  const reminded = await eventually('two reminders', async () =>
    (await stage.questions(run)).open.find((one) => one.reminded >= 2),
  );
  expect(reminded).toMatchObject({ kind: 'design', agent_id: 'plan-developer' });
  expect(listStages(stage.rehearsal.calls())).toEqual(['interview']);
  const [answer] = reminded.choices;
  await submit(run, { question_id: reminded.question_id, answer });
  expect(await run.result()).toMatchObject({ status: 'approved' });
  const stages = listStages(stage.rehearsal.calls());
  expect(count(stages, 'interview')).toBe(2);
  await expectPromisesKept(stage, run.workflowId);
});

it('specialists, and research with consultations, are at the model at the same time', async () => {
  const specialists = atOnce(3, { pass: true });
  const assessors = atOnce(4, { pass: true });
  const together = new Map([
    ...['file_structure', 'checkpoints', 'instructions'].map(
      (name) => [name, specialists] as const,
    ),
    ...['research', 'consultation'].map((name) => [name, assessors] as const),
  ]);
  stage.rehearsal.script([
    {
      reply: (request) => {
        const called = readStage(request)?.stage ?? '';
        if (called === 'brief') return { json: briefOf('SQLite 3') };
        return together.get(called)?.(request) ?? { pass: true };
      },
    },
  ]);
  // One after the other they would wait for each other for ever.
  const run = await stage.start('architectureDesign', {
    goal,
    use_defaults: true,
    auto_approve: true,
    limits: { max_parallel: 4 },
  });
  expect(await run.result()).toMatchObject({ status: 'approved' });
});

it('a design of 30 tasks with a repair uses at most 200 KB of history', async () => {
  stage.rehearsal.script([{ reply: designOfTasks(30) }]);
  const run = await stage.start('architectureDesign', {
    goal: `${goal} [flawed]`,
    use_defaults: true,
    auto_approve: true,
  });
  expect(await run.result()).toMatchObject({ status: 'approved', plan: { tasks: 30 } });
  const { bytes, events } = await readHistorySize(stage.client, run.workflowId);
  if (process.env['PLANWAVE_FIGURES'] === '1') console.log({ bytes, events });
  expect(bytes).toBeLessThanOrEqual(historyBytesMax);
  await expectPromisesKept(stage, run.workflowId);
});

it('a budget that is spent in every part of a design: each time it asks, top_up goes on, and nothing is bought twice', async () => {
  // Research of an earlier run would save a call.
  const settings = { goal, auto_approve: true, research_max_age_days: 0 };
  const undisturbed = await stage.start('architectureDesign', settings);
  await answerInterview(undisturbed);
  expect(await undisturbed.result()).toMatchObject({ status: 'approved' });
  const bought = listStages(stage.rehearsal.calls()).toSorted();
  stage.rehearsal.reset();

  const calls = 2;
  const run = await stage.start('architectureDesign', { ...settings, budget: { calls } });
  await answerInterview(run);
  const stoppedAfter: string[] = [];
  for (let limit = calls; limit < bought.length; limit += calls) {
    const question = await openQuestion(stage, run, `q${stoppedAfter.length + 2}`);
    expect(question).toMatchObject({ kind: 'budget', choices: ['top_up', 'finish', 'abandon'] });
    const made = listStages(stage.rehearsal.calls());
    expect(made).toHaveLength(limit);
    stoppedAfter.push(made.at(-1) ?? '');
    await submit(run, { question_id: question.question_id, answer: 'top_up' });
  }
  expect(await run.result()).toMatchObject({
    status: 'approved',
    usage: { calls: bought.length },
  });
  expect(listStages(stage.rehearsal.calls()).toSorted()).toEqual(bought);
  // It was stopped in the interview, among the specialists, in the risk assessment, and before the review.
  const parts = stoppedAfter.map((one) => partOf(one));
  expect(new Set(parts)).toEqual(new Set(['interview', 'specialists', 'risks']));
  expect(stoppedAfter.at(-1)).toBe('best_practices');
  expect(bought).toContain('design_review');
  // Its research took the place of that of the run before.
  await expectPromisesKept(stage, run.workflowId, { orphans: true });
});

function untilKind(run: WorkflowHandle, kind: Question['kind']): Promise<Question> {
  return eventually(`a question of kind ${kind}`, async () =>
    (await stage.questions(run)).open.find((one) => one.kind === kind),
  );
}

/** Answers the one question of the rehearsed interview. With defaults, a question on the budget would get its own at once. */
async function answerInterview(run: WorkflowHandle): Promise<void> {
  const { question_id, choices } = await untilKind(run, 'design');
  await submit(run, { question_id, answer: choices[0] });
}

/** Creates a brief with a technology that no other test has research on. */
function briefOf(technology: string) {
  return {
    deliverables: ['A comparison'],
    hand_offs: [],
    failure_modes: [],
    success_criteria: ['It names three ways'],
    technologies: [technology],
    user_questions: [],
  };
}

function partOf(called: string): 'interview' | 'specialists' | 'risks' {
  const [name = ''] = called.split(' ');
  if (['interview', 'brief'].includes(name)) return 'interview';
  return riskStages.has(name) ? 'risks' : 'specialists';
}

function count(stages: readonly string[], name: string): number {
  return stages.filter((one) => one === name).length;
}
