import type { WorkflowHandle } from '@temporalio/client';
import type { AnswerFormat } from '../../../contracts/question.ts';
import { openQuestion, openQuestions, refusalOf, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { historyJson } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  newestText,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A run with delegations that each ask their questions at once, and complete with the answers. */
function startAsking(
  asks: Readonly<Record<string, Parameters<typeof blocked>[0]>>,
  input: object = {},
): Promise<WorkflowHandle> {
  const ids = Object.keys(asks);
  stage.rehearsal.script([
    plans(1, plan(ids.map((id) => work(id)))),
    ...ids.flatMap((id) => [
      works(id, { json: blocked(asks[id] ?? [], `${id}-done`) }, 1),
      works(id, { json: completed(`${id}-done`) }),
    ]),
  ]);
  return stage.start('plannerRun', { goal: 'Host the backup', ...input });
}

interface Typed {
  readonly format: AnswerFormat;
  readonly wrong: unknown;
  readonly reason: string;
  readonly good: unknown;
  readonly taken: string;
}

const typed: readonly Typed[] = [
  {
    format: 'text',
    wrong: { region: 'eu' },
    reason: 'expected text, not an object',
    good: 'eu-west, with "quotes"\nand a second line 🙂',
    taken: 'eu-west, with "quotes"\nand a second line 🙂',
  },
  {
    format: 'boolean',
    wrong: 'perhaps',
    reason: 'expected true or false ("yes" and "no" are taken too)',
    good: 'Yes',
    taken: 'true',
  },
  {
    format: 'number',
    wrong: '1,5',
    reason: 'expected a number, with a point for decimals and no other separators',
    good: '1.5',
    taken: '1.5',
  },
  {
    format: 'choice',
    wrong: 'mars',
    reason: 'expected one of "eu-west", "us-east"',
    good: 'us-east',
    taken: 'us-east',
  },
  {
    format: 'json',
    wrong: '{"copies":',
    reason: 'expected JSON; the text cannot be parsed',
    good: { copies: 3 },
    taken: '{"copies":3}',
  },
];

it('takes answers in the format of their question, and explains each wrong one', async () => {
  const asks = Object.fromEntries(
    typed.map(({ format }) => [
      `ask-${format}`,
      [
        question(`How, as ${format}?`, {
          expected_answer_format: format,
          choices: format === 'choice' ? ['eu-west', 'us-east'] : [],
        }),
      ],
    ]),
  );
  const run = await startAsking(asks, { limits: { max_parallel: 5 } });
  const open = await openQuestions(stage, run, typed.length);
  for (const { format, wrong, reason, good, taken } of typed) {
    const id = open.find((one) => one.expected_answer_format === format)?.question_id ?? '';
    const refused = await refusalOf(run, { question_id: id, answer: wrong });
    expect(refused.reason).toBe(`${id}: ${reason}`);
    // What is shown as an example would be taken.
    expect(refused.example).toMatchObject({ question_id: id, answer: expect.anything() });
    expect(await submit(run, { question_id: id, answer: good })).toEqual({
      question_id: id,
      accepted: taken,
    });
  }
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  for (const { format, taken } of typed) {
    const calls = callsOf(stage.rehearsal, `ask-${format}`);
    expect(calls).toHaveLength(2);
    expect(newestText(calls[1])).toContain(`"answer":${JSON.stringify(taken)}`);
  }
  await expectPromisesKept(stage, run.workflowId);
});

it('brings a long answer whole to the agent, by reference', async () => {
  const lines = Array.from({ length: 1_000 }, (_, i) => `Line ${i + 1}: ${'ä🙂'.repeat(10)}`);
  const answer = lines.join('\n');
  expect(Buffer.byteLength(answer)).toBeGreaterThan(50_000);
  const run = await startAsking({ host: [question('What do you know?'), question('Who else?')] });
  await openQuestions(stage, run, 2);
  await run.signal('answer', { question_id: 'q1', answer });
  await submit(run, { question_id: 'q2', answer: 'Nobody' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });

  const text = newestText(callsOf(stage.rehearsal, 'host')[1]);
  expect(text).toContain(JSON.stringify(answer));
  expect(text).toContain('"answer":"Nobody"');
  const { answered } = await stage.questions(run);
  expect(answered[0]?.answer.length).toBeLessThanOrEqual(1_000);
  const histories = await expectPromisesKept(stage, run.workflowId);
  // The answer stands once in history, as it came in and went to the store, and in no child.
  const carriers = histories.filter(({ history }) =>
    payloadTexts(historyJson(history)).some((one) => one.includes('Line 1000:')),
  );
  expect(carriers.map(({ workflowId }) => workflowId)).toEqual([run.workflowId]);
});

/** Every payload of a history in plain text. */
function payloadTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(payloadTexts);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    name === 'data' && typeof field === 'string'
      ? [Buffer.from(field, 'base64').toString('utf8')]
      : payloadTexts(field),
  );
}

it('lets several delegations ask at once and takes their answers in any order', async () => {
  const run = await startAsking({
    first: [question('First, one?'), question('First, two?')],
    second: [question('Second?')],
    third: [question('Third?')],
  });
  const open = await openQuestions(stage, run, 4);
  const byText = new Map(open.map(({ text, question_id }) => [text, question_id]));
  const answerTo = (text: string) =>
    submit(run, { question_id: byText.get(text), answer: `answer to ${text}` });

  // One goes on while the others still wait.
  await answerTo('Third?');
  await eventually('third to go on', async () => callsOf(stage.rehearsal, 'third').length === 2);
  await answerTo('First, two?');
  await answerTo('Second?');
  await eventually('second to go on', async () => callsOf(stage.rehearsal, 'second').length === 2);
  expect(callsOf(stage.rehearsal, 'first')).toHaveLength(1);
  expect((await stage.questions(run)).open.map(({ text }) => text)).toEqual(['First, one?']);
  await answerTo('First, one?');

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const text = newestText(callsOf(stage.rehearsal, 'first')[1]);
  // In the order of the questions, not of the answers.
  expect(text.indexOf('answer to First, one?')).toBeGreaterThan(-1);
  expect(text.indexOf('answer to First, two?')).toBeGreaterThan(
    text.indexOf('answer to First, one?'),
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('takes each default at once when the run was started so, and still asks what has none', async () => {
  const run = await startAsking(
    {
      host: [
        question('Which region?', {
          expected_answer_format: 'choice',
          choices: ['eu-west', 'us-east'],
          default_answer: 'us-east',
        }),
        question('How many copies?', { expected_answer_format: 'number', default_answer: '3' }),
        question('Who pays?'),
      ],
    },
    { use_defaults: true },
  );
  const { question_id } = await openQuestion(stage, run, 'q3');
  expect((await stage.questions(run)).open).toHaveLength(1);
  const { reason } = await refusalOf(run, { question_id: 'q1', answer: 'eu-west' });
  expect(reason).toContain('q1 is answered already (the default was taken: "us-east")');
  await submit(run, { question_id, answer: 'The client' });

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect((await stage.questions(run)).answered).toMatchObject([
    { question_id: 'q1', answer: 'us-east', answered_by: 'default' },
    { question_id: 'q2', answer: '3', answered_by: 'default' },
    { question_id: 'q3', answer: 'The client', answered_by: 'user' },
  ]);
  await expectPromisesKept(stage, run.workflowId);
});
