import type { WorkflowHandle } from '@temporalio/client';
import { z } from 'zod';
import { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import { inputExamples } from '../../../activities/run-record/describe-input-issues.ts';
import { askForChange, stagesOf, untilAsked, untilEnded } from '../../support/design-play.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

/** A plan without findings. */
const { plan: good } = z
  .object({ plan: CoordinationPlan })
  .parse(JSON.parse(inputExamples.riskAssessment));
/** The plan with one fault that code finds and a designer can mend. */
const faulty: CoordinationPlan = {
  ...good,
  tasks: good.tasks.map((task) => ({ ...task, agent: 'ghost' })),
};

const start = (input: object): Promise<WorkflowHandle> => stage.start('architectureDesign', input);

const stagesMade = (): string[] => [...new Set(stagesOf(stage.rehearsal.calls()))];

it('makes the interview alone, and writes its summary', async () => {
  const run = await start({ goal, stage: 'interview' });
  await untilEnded(stage, run);
  expect(await run.result()).toMatchObject({ status: 'interviewed', plan: null, findings: [] });
  expect(stagesMade()).toEqual(['interview']);
  const { design, answered_questions } = await storedRecord(stage.home, run.workflowId);
  expect(design).toMatchObject({ status: 'interviewed', materials: [{ stage: 'interview' }] });
  expect(answered_questions.length).toBeGreaterThan(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('verifies a plan alone: a good one has no finding, and the user is not asked', async () => {
  const run = await start({ plan: good, stage: 'verification' });
  expect(await run.result()).toMatchObject({
    status: 'verified',
    findings: [],
    approved_by: null,
    plan: { tasks: 1 },
  });
  expect(stagesMade()).toEqual(['design_review']);
  expect((await storedRecord(stage.home, run.workflowId)).design?.status).toBe('verified');
});

it('verifies a bad plan alone: its designer gets the findings, and what is left is the result', async () => {
  const plan = { ...faulty, goal: `${goal} [unmended]` };
  const run = await start({ plan, stage: 'verification' });
  expect(await run.result()).toMatchObject({
    status: 'verified',
    findings: expect.arrayContaining([expect.objectContaining({ rule: 'DP4' })]),
  });
  expect(stagesMade()).toEqual(['design_change']);
});

it('has a plan approved alone: it is shown with what code finds, and verified after a change', async () => {
  const run = await start({ plan: faulty, stage: 'approval' });
  const question = await untilAsked(stage, run, 'plan_approval');
  expect(question.text).toContain('the roster has no agent "ghost"');
  expect(stage.rehearsal.calls()).toEqual([]);
  await askForChange(stage, run, question, 'Give the task to the facts agent.');
  const again = await untilAsked(stage, run, 'plan_approval');
  await run.signal('answer', { question_id: again.question_id, answer: 'abandon' });
  expect(await run.result()).toMatchObject({ status: 'abandoned' });
  const agreed = await start({ plan: good, stage: 'approval' });
  const { question_id } = await untilAsked(stage, agreed, 'plan_approval');
  await agreed.signal('answer', { question_id, answer: 'approve' });
  expect(await agreed.result()).toMatchObject({ status: 'approved', approved_by: question_id });
});

it.each([
  ['nothing', {}, ['goal: expected a goal. Try: {"goal":"…"}']],
  ['an empty goal', { goal: ' ' }, ['goal: expected a goal. Try: {"goal":"…"}']],
  [
    'a stage of a plan without one',
    { goal, stage: 'verification' },
    [
      'plan: the stage "verification" is of a plan that exists, and there is none. Try: {"stage":"verification","plan":{…}}',
      'goal: the stage "verification" is of a plan that exists, and the plan has its goal. Try: leave goal out',
    ],
  ],
  ['a plan for a whole design', { goal, plan: good }, ['plan: a plan is made from the goal here.']],
  ['an unknown stage', { goal, stage: 'review' }, ['stage: ', '"interview"', '"approval"']],
  ['a broken plan', { stage: 'approval', plan: { ...good, tasks: [] } }, ['plan.tasks: ']],
  [
    'an unknown setting',
    { goal, auto_aprove: true },
    ['auto_aprove', 'Did you mean "auto_approve"?'],
  ],
  ['a number that is none', { goal, research_max_age_days: -1 }, ['research_max_age_days: ']],
])('refuses %s, and says what was expected', async (_name, input, told) => {
  const run = await start(input);
  const refused: unknown = await run.result().catch((error: unknown) => error);
  const { cause } = refused instanceof Error ? refused : { cause: null };
  expect(cause).toMatchObject({ type: 'InvalidInput' });
  const message = cause instanceof Error ? cause.message : '';
  for (const words of told) expect(message).toContain(words);
  expect(message).toContain(`A good input: ${inputExamples.architectureDesign}`);
  expect(stage.rehearsal.calls()).toEqual([]);
});
