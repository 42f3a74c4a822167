import { describeQuestion } from '../../../client/cli/ask/ask-in-terminal.ts';
import { createPaint } from '../../../client/cli/terminal-text.ts';
import { answerCommand } from '../../../core/render/questions.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing, question } from './support/samples.ts';

const paint = createPaint(false);

it('says who asks, what, why, and how to answer', () => {
  expect(describeQuestion(question({ default_answer: 'eu-west' }), paint)).toEqual([
    'q1 · high · from researcher in gather-facts, wave 1',
    '  Which region?',
    '  why it matters: Prices differ.',
    '  default: eu-west (not taken automatically)',
    '  answer: your answer',
  ]);
});

it('numbers the choices and names the deadline', () => {
  const lines = describeQuestion(
    question({
      expected_answer_format: 'choice',
      choices: ['eu', 'us'],
      default_answer: 'eu',
      deadline_seconds: 7_200,
      delegation_id: null,
      agent_id: 'planner',
      wave: 0,
    }),
    paint,
  );
  expect(lines[0]).toBe('q1 · high · from the planner');
  expect(lines.slice(3)).toEqual([
    '  default: eu, applied 2 h after the question was asked, at 2023-11-15 00:13 UTC',
    '  1) eu',
    '  2) us',
  ]);
});

it('tells what was done about a question that nobody answers', () => {
  const escalate_to = { person: 'Maria', after_seconds: 3_600 };
  const [head, ...waiting] = describeQuestion(question({ escalate_to }), paint);
  expect(head).toBe('q1 · high · from researcher in gather-facts, wave 1');
  expect(waiting.at(-2)).toBe(
    '  also for Maria: 1 h after the question was asked, at 2023-11-14 23:13 UTC',
  );
  const urged = question({ escalate_to, escalated_at: 1_700_003_600, reminded: 2 });
  const lines = describeQuestion(urged, paint);
  expect(lines[0]).toBe(`${head}, now also for Maria, reminded 2 times`);
  expect(lines.join()).not.toContain('also for Maria:');
});

it('names what waits for it, where that is more than who asks', () => {
  const lines = describeQuestion(question({ waiting: ['a', 'b'], blocked: ['c'] }), paint);
  expect(lines).toContain('  waiting for it: a, b, and after them c');
  expect(lines.at(-2)).toBe('  without an answer: it waits');
  expect(describeQuestion(question(), paint).join()).not.toContain('waiting for it');
});

it('shows nothing of a model that a terminal would act upon', () => {
  const text = describeQuestion(
    question({ text: '\u001B]0;title\u0007a\u001B[2J', why_it_matters: '\u202Ex' }),
    paint,
  ).join('');
  expect(text).not.toMatch(/\p{Cc}|\p{Bidi_C}/u);
});

it.each([
  ['text', null, "answer run-1 q1 'your answer'"],
  ['text', 'eu west', "answer run-1 q1 'eu west'"],
  ['boolean', null, 'answer run-1 q1 true'],
  ['number', '7', 'answer run-1 q1 7'],
  ['choice', null, 'answer run-1 q1 a'],
  ['json', null, `answer run-1 q1 '{"key":"value"}'`],
] as const)(
  'gives a command for %s with default %j',
  (expected_answer_format, default_answer, end) => {
    const asked = question({ expected_answer_format, default_answer, choices: ['a'] });
    expect(answerCommand('run-1', asked)).toBe(`npm run planwave -- ${end}`);
  },
);

it('the inbox has every run that waits, also the 121st, and asks 50 at a time', async () => {
  const io = createFakeIo();
  const waiting = Array.from({ length: 121 }, (_, at) => {
    return { ...listing({ run_id: `run-${at}` }), stuck: null };
  });
  let asked = 0;
  let mostAtOnce = 0;
  const deps = createFakeDeps(io, {
    list: async ({ limit = 50 } = {}) => waiting.slice(0, limit),
    questions: async () => {
      mostAtOnce = Math.max(mostAtOnce, (asked += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      asked -= 1;
      const view = { open: [question()], answered: [], rejected: [], rejected_total: 0 };
      return { live: true, view };
    },
  });
  expect(await runCli(['questions'], deps)).toBe(0);
  expect(io.out().match(/answer with: /g)).toHaveLength(121);
  expect(io.out()).toContain('run-120 ·');
  expect(mostAtOnce).toBe(50);
});
