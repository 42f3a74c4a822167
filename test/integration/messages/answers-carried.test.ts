import type { PoolView, RunWavesView } from '../../../contracts/views.ts';
import { askFromElsewhere } from '../../support/as-child.ts';
import { openQuestion, refusalOf, rejectedMessages, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { eventTypes, listTenants } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  held,
  newestText,
  notYet,
  plan,
  planCalls,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=60'],
});

const assumed = { statement: 'The disk holds a year.', confidence: 'low' } as const;

/** Five waves. The first asks; only the last meets the user's own criterion; its plan is held. */
function scriptFiveWaves(): { readonly release: () => void } {
  const last = held({ json: plan([work('last', { criteria: ['goal-1'] })]) });
  const middle = [2, 3, 4].map((wave) =>
    plans(wave, plan([work(`step-${wave}`, { criteria: [`step-${wave}-done`, 'goal-1'] })])),
  );
  stage.rehearsal.script([
    plans(1, plan([work('ask', { criteria: ['ask-done', 'goal-1'] })])),
    ...middle,
    { match: { schema: 'plan', nth: 5 }, reply: last.reply },
    works('ask', { json: blocked([question('Which region?')], 'ask-done', 'goal-1') }, 1),
    works('ask', { json: { ...notYet('ask'), assumptions_made: [assumed] } }),
    ...[2, 3, 4].map((wave) => works(`step-${wave}`, { json: notYet(`step-${wave}`) })),
    works('last', { json: completed('goal-1') }),
  ]);
  return last;
}

/** A question from nobody in this run: it stays open from wave to wave. */
it('fault 38: continue-as-new carries questions, answers, criteria, facts and usage, and applies no answer again', async () => {
  const { release } = scriptFiveWaves();
  const run = await stage.start('plannerRun', {
    goal: 'Host the backup',
    criteria: ['The backup was restored once.'],
    limits: { max_waves: 6 },
    tenant: 'acme',
  });
  const firstRunId = (await run.describe()).runId;
  const { question_id } = await openQuestion(stage, run);
  await askFromElsewhere(stage, run, question('Who pays?'));
  await openQuestion(stage, run, 'q2');
  await run.signal('amend', { instruction: 'Use no cloud.' });
  await run.signal('answer', { question_id: 'q9', answer: 'to nothing' });
  await rejectedMessages(stage, run, 1);
  await submit(run, { question_id, answer: 'eu-west', answered_by: 'Ada' });

  // Wave 5 is being planned: the run has continued as new on the way.
  await eventually('the plan of wave 5', async () => planCalls(stage.rehearsal).length === 5);
  expect((await run.describe()).runId).not.toBe(firstRunId);
  const questions = await stage.questions(run);
  expect(questions.open).toMatchObject([{ question_id: 'q2', text: 'Who pays?' }]);
  expect(questions.answered).toMatchObject([
    { question_id, answer: 'eu-west', answered_by: 'Ada', delegation_id: 'ask' },
  ]);
  expect(questions.rejected).toMatchObject([{ question_id: 'q9' }]);
  expect(newestText(planCalls(stage.rehearsal)[4])).toContain('Use no cloud.');
  const pool = await run.query<PoolView>('pool');
  const said = pool.facts.map(({ statement }) => statement);
  expect(said).toEqual(['Use no cloud.', 'Which region? Answer: eu-west', assumed.statement]);
  expect(pool.total).toBe(3);
  const waves = await run.query<RunWavesView>('wave');
  expect(
    waves.done.map(({ wave, criteria_met, criteria_open }) => [wave, criteria_met, criteria_open]),
  ).toEqual([
    [1, 1, 1],
    [2, 2, 1],
    [3, 3, 1],
    [4, 4, 1],
  ]);
  const status = await stage.status(run);
  // A plan, a delegation, a decision for each wave, the review of the question, and the call with the answer.
  expect(status).toMatchObject({ phase: 'waiting_for_user', waves_allowed: 6, open_questions: 1 });
  expect(status.load).toEqual({ tenant: 'acme' });
  expect(status.usage.calls).toBe(4 * 3 + 2);

  // The answer of an earlier run of the workflow: repeated it is harmless, another one is refused.
  expect(await submit(run, { question_id, answer: 'eu-west' })).toEqual({
    question_id,
    accepted: 'the same answer was taken before',
  });
  await run.signal('answer', { question_id, answer: 'eu-west' });
  const { reason } = await refusalOf(run, { question_id, answer: 'us-east' });
  expect(reason).toContain('q1 is answered already ("eu-west" by Ada)');
  await run.signal('answer', { question_id, answer: 'us-east' });
  expect((await rejectedMessages(stage, run, 2))[1]).toMatchObject({ question_id, reason });
  await submit(run, { question_id: 'q2', answer: 'The client' });
  release();

  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 5 });
  expect(result.criteria.map(({ state }) => state)).toEqual(Array(5).fill('met'));
  expect(result.usage.calls).toBe(stage.rehearsal.counts().calls);
  const histories = await expectPromisesKept(stage, run.workflowId);
  const runs = histories.filter(({ workflowId }) => workflowId === run.workflowId);
  expect(runs.length).toBeGreaterThan(1);
  // Activities after the first, and children, also of later executions.
  const { openRun, ...others } = listTenants(histories);
  expect([openRun, new Set(Object.values(others))]).toEqual(['', new Set(['acme'])]);
  expect(runs.slice(1).map((one) => eventTypes(one).at(-1))).toEqual(
    Array(runs.length - 1).fill('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW'),
  );
});
