import type { WorkflowHandle } from '@temporalio/client';
import { engineLimits } from '../../../core/limits.ts';
import { askFromElsewhere, tokenText } from '../../support/as-child.ts';
import { openQuestion, openQuestions, rejectedMessages, submit } from '../../support/asking.ts';
import { bodyOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { signalRaw } from '../../support/raw-messages.ts';
import { readTree } from '../../support/read-tree.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';

/** Starts a run that asks one question. */
async function startAsking(): Promise<WorkflowHandle> {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  return run;
}

async function expectAnswerStillWorks(run: WorkflowHandle): Promise<void> {
  const { open } = await stage.questions(run);
  expect(open.map(({ question_id }) => question_id)).toEqual(['q1']);
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
}

it('finding T4: 700 bad instructions of 10 KB while no worker is there: a counter, and the answer still works', async () => {
  const run = await startAsking();
  await stage.stopWorker();
  const waive_criteria = Array.from({ length: 90 }, (_, n) => `${n}-${'c'.repeat(95)}`);
  for (let batch = 0; batch < 14; batch += 1) {
    await Promise.all(
      Array.from({ length: 50 }, () => run.signal('amend', { instruction: 'x', waive_criteria })),
    );
  }
  await stage.startWorker();
  const view = await eventually('all messages taken', async () => {
    const seen = await stage.questions(run);
    return seen.rejected_total === 700 && seen;
  });
  expect(view.rejected).toHaveLength(engineLimits.rejectedAnswersMax);
  for (const { reason } of view.rejected) {
    expect(reason.length).toBeLessThanOrEqual(engineLimits.rejectedReasonCharsMax);
  }
  await expectAnswerStillWorks(run);
  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.rejected_answers).toHaveLength(engineLimits.rejectedAnswersRecordedMax);
});

it('finding T4: an answer in a flood does not overtake the question of a child that it answers', async () => {
  const run = await startAsking();
  const answer = (question_id: string): Promise<void> =>
    run.signal('answer', { question_id, answer: 'the client' });
  // All of it is one workflow task.
  await stage.stopWorker();
  for (let nth = 0; nth < 110; nth += 1) await answer(`no-such-${nth}`);
  for (const nth of [2, 3]) {
    await askFromElsewhere(stage, run, question(`Who pays bill ${nth}?`), `by-hand#${nth}`);
    await answer(`q${nth}`);
    for (let more = 0; more < nth; more += 1) await answer(`no-such-${nth}-${more}`);
  }
  await stage.startWorker();
  const view = await eventually('all messages taken', async () => {
    const seen = await stage.questions(run);
    return seen.rejected_total + seen.answered.length === 117 && seen;
  });
  expect(view.answered.map(({ question_id }) => question_id)).toEqual(['q2', 'q3']);
  await expectAnswerStillWorks(run);
});

it('finding T4: a run that has taken too many signals for one execution goes on in another one, with its question open', async () => {
  const asks = { json: blocked([question('Which region?')], 'host-done') };
  stage.rehearsal.script([
    // Completed before the question, however slow the machine is.
    plans(1, plan([work('first'), work('host', { depends_on: ['first'] })])),
    plans(2, plan([work('again', { criteria: ['host-done'] })])),
    works('first', { json: completed('first-done') }),
    works('host', asks),
    works('again', asks, 1),
    works('again', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const input = { goal: 'Host the backup', limits: { max_signals: 40 } };
  const run = await stage.start('plannerRun', input, 'crowded');
  await openQuestion(stage, run);
  const before = await run.describe();
  for (let nth = 0; nth < 40; nth += 1) await run.signal('amend', { instruction: nth });
  const current = stage.client.workflow.getHandle('crowded');
  // The question stays open for the repeated work, which asks the same: the user is asked once.
  await eventually('the repeated work to ask', async () => {
    const { open } = await stage.questions(current);
    return open[0]?.delegation_id === 'again';
  });
  expect(await stage.questions(current)).toMatchObject({ open: [{ question_id: 'q1' }] });
  expect((await current.describe()).runId).not.toBe(before.runId);
  expect(await stage.questions(current)).toMatchObject({ rejected_total: 40 });
  // What was completed is not done again, and children still reach the run.
  await submit(current, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(current)).toMatchObject({ status: 'completed', waves: 2 });
  expect(callsOf(stage.rehearsal, 'first')).toHaveLength(1);
  await expectPromisesKept(stage, 'crowded', { orphans: true });
});

it('finding T4: an answer at the end of a flood is given to the work that asks the same again', async () => {
  const asks = { json: blocked([question('Which region?')], 'host-done') };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    plans(2, plan([work('again', { criteria: ['host-done'] })])),
    works('host', asks),
    works('again', asks, 1),
    works('again', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const input = { goal: 'Host the backup', limits: { max_signals: 40 } };
  const run = await stage.start('plannerRun', input, 'answered-in-a-flood');
  await openQuestion(stage, run);
  // All of it is one workflow task.
  await stage.stopWorker();
  for (let nth = 0; nth < 40; nth += 1) await run.signal('amend', { instruction: nth });
  await run.signal('answer', { question_id: 'q1', answer: 'eu-west' });
  await stage.startWorker();
  const current = stage.client.workflow.getHandle('answered-in-a-flood');
  expect(await stage.result(current)).toMatchObject({ status: 'completed', waves: 2 });
  // The fault fired: the work was done once more, asked the same, and the user was asked once.
  const [asked, told] = callsOf(stage.rehearsal, 'again');
  expect([asked, JSON.stringify(bodyOf(told).messages)]).toEqual([
    expect.anything(),
    expect.stringContaining('eu-west'),
  ]);
  const { open, answered } = await stage.questions(current);
  expect([open, answered.map(({ question_id }) => question_id)]).toEqual([[], ['q1']]);
  await expectPromisesKept(stage, 'answered-in-a-flood', { orphans: true });
});

it('finding T4: an answer that overflows the stack, to an answered question and as a change, harms nothing', async () => {
  const ab = { expected_answer_format: 'choice' as const, choices: ['a', 'b'] };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which?', ab), question('Where?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestions(stage, run, 2);
  await submit(run, { question_id: 'q1', answer: 'a' });
  const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
  const one = `{"question_id":"q1","answer":${deep}}`;
  await signalRaw(stage, run.workflowId, 'answer', { encoding: 'json/plain', data: one });
  const amend = `{"answers":[${one}]}`;
  await signalRaw(stage, run.workflowId, 'amend', { encoding: 'json/plain', data: amend });
  const rejected = await rejectedMessages(stage, run, 2);
  expect(rejected.map(({ reason }) => reason)).toEqual([
    expect.stringContaining('q1 is answered already'),
    expect.stringContaining('Signal amend: q1: the answer is nested deeper'),
  ]);
  await submit(run, { question_id: 'q2', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
});

it('finding T4: messages of the engine that lack the token of their run are refused or dropped', async () => {
  const run = await startAsking();
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  const long = question('Top up? '.repeat(200), { why_it_matters: 'w'.repeat(900) });
  for (let n = 0; n < 14; n += 1) {
    await run.signal('escalate', {
      type: 'questions',
      escalation_id: `forged#${n}`,
      from: wave.workflowId,
      kind: 'budget',
      wave: 1,
      delegation_id: null,
      agent_id: null,
      questions: Array.from({ length: 20 }, () => long),
    });
  }
  await run.signal('escalate', { type: 'parked', from: wave.workflowId, reason: 'no money' });
  const answers = [
    {
      question_id: 'q1',
      text: 'Which region?',
      answer: 'Mars',
      answer_ref: null,
      answered_by: 'user',
      loop: false,
    },
  ];
  await wave.signal('deliver', { escalation_id: 'host#1', answers });
  await wave.signal('pause', { reason: 'only the run may say so' });
  await eventually('15 refusals', async () => (await stage.questions(run)).rejected_total === 15);
  expect(await stage.status(run)).toMatchObject({ phase: 'waiting_for_user', parked_reason: null });
  await expectAnswerStillWorks(run);
  expect(JSON.stringify(stage.rehearsal.calls())).not.toContain('Mars');
});

it('finding T4: the token of a run stands in no prompt, record or file', async () => {
  const run = await startAsking();
  const token = await tokenText(stage, run.workflowId);
  expect(token).toMatch(/^[0-9a-f-]{36}$/);
  await expectAnswerStillWorks(run);
  expect(JSON.stringify(stage.rehearsal.calls())).not.toContain(token);
  for (const [path, text] of Object.entries(await readTree(stage.home))) {
    expect([path, text.includes(token)]).toEqual([path, false]);
  }
});

it('an instruction that comes before the input was read names a criterion that does not exist', async () => {
  await stage.stopWorker();
  stage.rehearsal.script([
    plans(1, plan([work('host', { criteria: ['goal-1'] })])),
    works('host', { json: completed('goal-1') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal, criteria: ['It is restored once.'] });
  await run.signal('amend', { instruction: 'Less.', waive_criteria: ['gaol-1'] });
  await stage.startWorker();
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect((await stage.questions(run)).rejected.map(({ reason }) => reason)).toEqual([
    'Signal amend: there is no criterion "gaol-1". Criteria are: "goal-1".',
  ]);
});
