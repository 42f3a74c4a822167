import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { QuestionReview } from '../../../contracts/question.ts';
import type { PoolView, WaveView } from '../../../contracts/views.ts';
import type { Reply, ReplyFunction, ScriptRule } from '../../../rehearsal/script.ts';
import { openQuestion, openQuestions, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  newestText,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup in eu-west';

type Verdict = QuestionReview['reviews'][number];

const verdict = (number: number, over: Partial<Verdict> = {}): Verdict => ({
  question: number,
  verdict: 'needs_user_input',
  answer: null,
  source_refs: [],
  reason: 'It is the money of the user.',
  ...over,
});

const reviews = (...all: readonly Verdict[]): { readonly json: QuestionReview } => ({
  json: { reviews: [...all] },
});

const reviewCalls = () => stage.rehearsal.calls().filter(({ shape }) => shape === 'review');

/** Rule for the nth review of the questions of a delegation. */
const reviewOf = (id: string, nth: number, reply: Reply | ReplyFunction): ScriptRule => ({
  match: { schema: 'review', bodyIncludes: `What does ${id} need?`, nth },
  reply,
});
const awaits = (id: string): Reply => reviews(verdict(1, { verdict: 'awaits', source_refs: [id] }));
const asking = (id: string): Reply => ({
  json: blocked([question(`What does ${id} need?`)], `${id}-done`),
});
const done = (id: string): Reply => ({ json: completed(`${id}-done`) });

const asks = [
  question('Which region?', { priority: 'high' }),
  question('Who may delete it?'),
  question('How many copies?', { priority: 'low', expected_answer_format: 'number' }),
  question('Who pays?', { priority: 'normal' }),
];

it('finding F8: the planner sees every question first; what the run knows or an assumption settles never reaches the user', async () => {
  const reviewed = held(
    reviews(
      verdict(1, { verdict: 'answered', answer: 'eu-west', source_refs: ['f9'] }),
      verdict(2, { verdict: 'assumed', answer: 'Nobody' }),
      verdict(3, { verdict: 'assumed', answer: 'three' }),
    ),
  );
  const optional = { optional_questions: [question('Which colour has the report?')] };
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    { match: { schema: 'review', nth: 1 }, reply: reviewed.reply },
    {
      match: { schema: 'review', nth: 2 },
      reply: reviews(
        verdict(1, { verdict: 'answered', answer: 'eu-west', source_refs: ['goal'] }),
        verdict(2),
        verdict(3, { verdict: 'assumed', answer: '3' }),
        verdict(4),
      ),
    },
    works('host', { json: blocked(asks, 'host-done') }, 1),
    works('host', { json: { ...completed('host-done'), ...optional } }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await stage.rehearsal.waitForCalls(3);
  expect((await stage.questions(run)).open).toEqual([]);
  reviewed.release();

  const [critical, passed] = await openQuestions(stage, run, 2);
  expect(critical).toMatchObject({ question_id: 'q2', text: 'Who may delete it?' });
  expect(passed).toMatchObject({
    text: 'Who pays?',
    priority: 'critical',
    why_it_matters: 'The result depends on it. The planner: It is the money of the user.',
  });
  const [first, repaired] = reviewCalls();
  expect(newestText(first)).toContain('"question":2,"text":"Who may delete it?"');
  const faults = newestText(repaired);
  expect(faults).toContain('no such source');
  expect(faults).toContain('expected a number');
  expect(faults).toContain('a critical question is never assumed');
  expect(faults).toContain('no verdict on 4');
  expect((await stage.questions(run)).answered).toMatchObject([
    { text: 'Which region?', answer: 'eu-west', answered_by: 'planner', source_refs: ['goal'] },
    { text: 'How many copies?', answer: '3', answered_by: 'planner-assumption' },
  ]);
  await submit(run, { question_id: passed?.question_id, answer: 'The client' });
  await submit(run, { question_id: 'q2', answer: 'Nobody' });

  const { report_path, usage } = await stage.result(run);
  expect(usage.calls).toBe(stage.rehearsal.counts().calls);
  const told = newestText(callsOf(stage.rehearsal, 'host')[1]);
  const texts = ['Which region?', 'Who may delete it?', 'How many copies?', 'Who pays?'];
  const order = texts.map((text) => told.indexOf(text));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(told).toMatch(/^q3: nobody has decided this\./m);
  const { facts } = await run.query<PoolView>('pool');
  expect(
    facts.map(({ source_refs, origin, is_assumption }) => [source_refs, origin, is_assumption]),
  ).toEqual([
    [['q1', 'goal'], 'planner', false],
    [['q3'], 'planner', true],
    [['q4'], 'user', false],
    [['q2'], 'user', false],
  ]);
  const result = readFileSync(join(stage.home, report_path), 'utf8');
  expect(result).toContain('- How many copies? Answer: 3 (low confidence, q3)');
  expect(result).toContain('- Which colour has the report? (host)');
  const recorded = join(stage.home, dirname(report_path), 'questions.jsonl');
  expect(readFileSync(recorded, 'utf8')).toContain(
    '"answered_by":"planner","source_refs":["goal"]',
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('finding F8: a critical question that an earlier answer of the user settles does not reach the user', async () => {
  const region = question('Where may the data be?');
  const half = unmet('completed', 'Half of it.', 'goal-1');
  const settled = verdict(1, {
    verdict: 'answered',
    answer: 'eu-west',
    source_refs: ['q1'],
    reason: 'The user has said so in q1.',
  });
  stage.rehearsal.script([
    plans(1, plan([work('ask', { criteria: ['goal-1'] })])),
    works('ask', { json: blocked([region], 'goal-1') }, 1),
    works('ask', { json: half }),
    { match: { schema: 'review', nth: 1 }, reply: reviews(verdict(1)) },
    { match: { schema: 'decision', nth: 1 }, reply: { json: decision('goal-1') } },
    plans(2, plan([work('host', { criteria: ['goal-1'] })])),
    works('host', { json: blocked([question('Which region is allowed?')], 'goal-1') }, 1),
    works('host', { json: completed('goal-1') }),
    { match: { schema: 'review', nth: 2 }, reply: { json: { reviews: [settled] } } },
  ]);
  const run = await stage.start('plannerRun', { goal, criteria: ['It is hosted.'] });
  await openQuestion(stage, run);
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  expect((await stage.questions(run)).answered).toMatchObject([
    { question_id: 'q1', answered_by: 'user' },
    { question_id: 'q2', answered_by: 'planner', answer: 'eu-west', source_refs: ['q1'] },
  ]);
  expect(newestText(callsOf(stage.rehearsal, 'host')[1])).toContain('"answer":"eu-west"');
  await expectPromisesKept(stage, run.workflowId);
});

it('a planner that cannot review leaves the questions to the user as they were asked', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    { match: { schema: 'review' }, reply: reviews() },
    works(
      'host',
      { json: blocked([question('Which region?', { priority: 'low' })], 'host-done') },
      1,
    ),
    works('host', { json: completed('host-done') }),
  ]);
  const wave = await stage.start('plannerWave', { goal });
  expect(await openQuestion(stage, wave)).toMatchObject({ text: 'Which region?', priority: 'low' });
  expect(reviewCalls()).toHaveLength(3);
  await submit(wave, { answer: 'eu-west' });
  expect(await wave.result()).toMatchObject({
    status: 'decided',
    usage: { calls: stage.rehearsal.counts().calls },
  });
  await expectPromisesKept(stage, wave.workflowId);
});

it('part of fault 26: stop cancels a review and asks nobody', async () => {
  const { reply, release } = held(reviews());
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    { match: { schema: 'review' }, reply },
    works(
      'host',
      { json: blocked([question('Which region?', { priority: 'low' })], 'host-done') },
      1,
    ),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await stage.rehearsal.waitForCalls(3);
  await run.signal('stop', { reason: 'enough' });
  expect(await stage.result(run)).toMatchObject({ status: 'stopped' });
  release();
  const { open, answered } = await stage.questions(run);
  expect([...open, ...answered]).toEqual([]);
  await expectPromisesKept(stage, run.workflowId);
});

it('the same question of two delegations is asked once, shows what waits for it, and answers both', async () => {
  const ids = ['host', 'store'];
  stage.rehearsal.script([
    plans(1, plan([...ids.map((id) => work(id)), work('report', { depends_on: ['store'] })])),
    ...ids.flatMap((id) => [
      works(id, { json: blocked([question(`Which  region for ${goal}?`)], `${id}-done`) }, 1),
      works(id, { json: completed(`${id}-done`) }),
    ]),
    works('report', { json: completed('report-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  const joined = await eventually('both to ask', async () => {
    const { open } = await stage.questions(run);
    return open.find(({ waiting }) => waiting.length === 2);
  });
  expect(joined).toMatchObject({ question_id: 'q1', blocked: ['report'] });
  expect(joined.waiting.toSorted()).toEqual(ids);
  expect((await stage.status(run)).open_questions).toBe(1);
  await submit(run, { answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  for (const id of ids) {
    expect(newestText(callsOf(stage.rehearsal, id)[1])).toContain('"answer":"eu-west"');
  }
  expect((await stage.questions(run)).answered).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('questions come in the order of blocking, one waits for a result, and a cycle leaves its note undecided', async () => {
  const names = ['first', 'small', 'base', 'free'];
  const first = held(reviews(verdict(1)));
  const [small, base, free] = [held(asking('small')), held(asking('base')), held(done('free'))];
  stage.rehearsal.script([
    plans(
      1,
      plan([
        ...names.map((id) => work(id)),
        work('middle', { depends_on: ['base'] }),
        work('report', { depends_on: ['middle'] }),
      ]),
    ),
    works('first', asking('first'), 1),
    works('first', done('first')),
    works('small', small.reply, 1),
    works('small', done('small')),
    works('base', base.reply, 1),
    works('base', done('base'), 2),
    works('base', { json: unmet('failed', 'It waits in a cycle.', 'base-done') }, 3),
    works('free', free.reply),
    reviewOf('first', 1, first.reply),
    reviewOf('base', 1, awaits('report')),
    reviewOf('small', 1, awaits('free')),
    reviewOf(
      'small',
      2,
      reviews(verdict(1, { verdict: 'answered', answer: 'Ten', source_refs: ['free'] })),
    ),
    {
      match: { schema: 'decision' },
      reply: { json: decision('base-done', 'middle-done', 'report-done') },
    },
  ]);
  const wave = await stage.start('plannerWave', { goal, notes: true });
  const states = async (): Promise<Readonly<Record<string, string>>> => {
    const { delegations } = await wave.query<WaveView>('wave');
    return Object.fromEntries(delegations.map((one) => [one.delegation_id, one.state]));
  };
  const waits = (id: string) =>
    eventually(`${id} to ask`, async () => (await states())[id] === 'waiting');
  await eventually('the first review', async () => reviewCalls().length === 1);
  small.release();
  await waits('small');
  base.release();
  await waits('base');
  expect(reviewCalls()).toHaveLength(1);
  first.release();
  // The work that two others wait for comes before the one that asked earlier.
  await eventually('three reviews', async () => reviewCalls().length === 3);
  const order = () =>
    reviewCalls().map((call) => /What does (\w+) need/.exec(newestText(call))?.[1]);
  expect(order()).toEqual(['first', 'base', 'small']);
  await eventually('the end of base', async () => (await states())['base'] === 'failed');
  expect(await states()).toMatchObject({ small: 'waiting', free: 'running', report: 'skipped' });
  const [, refused, faulted] = callsOf(stage.rehearsal, 'base');
  expect(newestText(refused)).toContain('base→report→middle→base');
  expect(newestText(refused)).toMatch(/^note_001: the question of this note was refused/m);
  expect(faultsOf(faulted)).toEqual([expect.stringContaining('note_001 is escalated')]);
  free.release();
  await submit(wave, { question_id: 'q1', answer: 'Nothing' });
  expect(await wave.result()).toMatchObject({ status: 'decided' });
  expect(order()).toEqual(['first', 'base', 'small', 'small']);
  expect(newestText(callsOf(stage.rehearsal, 'small')[1])).toContain('"answer":"Ten"');
  const { sessions = [] } = await storedRecord(stage.home, wave.workflowId);
  expect(sessions.find(({ delegation_id }) => delegation_id === 'base')).toMatchObject({
    status: 'failed',
    unresolved: 1,
  });
  await expectPromisesKept(stage, wave.workflowId);
});

it('a planner whose questions are all refused three times in a row is stuck, and the user decides', async () => {
  const asked = plan([], [question('Which region?')]);
  stage.rehearsal.script([{ match: { schema: 'plan' }, reply: { json: asked } }]);
  const run = await stage.start('plannerRun', { goal });
  for (const id of ['q1', 'q2']) {
    // One after the other.
    // oxlint-disable-next-line no-await-in-loop
    const { question_id } = await openQuestion(stage, run, id);
    // oxlint-disable-next-line no-await-in-loop
    await submit(run, { question_id, answer: 'West.' });
  }
  const stuck = await openQuestion(stage, run, 'q3');
  expect(stuck).toMatchObject({ kind: 'planner_stuck', choices: ['retry', 'abandon'] });
  expect(stuck.text).toContain('were refused 3 times in a row');
  expect(stage.rehearsal.calls().filter(({ shape }) => shape === 'plan')).toHaveLength(5);
  await submit(run, { question_id: stuck.question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
  await expectPromisesKept(stage, run.workflowId);
});
