import { outcome } from './core/builders.ts';
import { listCrashed, settleCrashed, tasksCrashedQuestion } from '../../core/run/crashed-tasks.ts';
import type { StoredAnswer, StoredWave } from '../../contracts/run-record.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { inboxQuestion, storedAnswer } from '../support/factories.ts';

it('the user is asked about tasks of the plan that crashed, and not about decisions, which no wave does again', () => {
  const crashed = { status: 'failed', reason: 'It broke off.', crashes: 3 } as const;
  const outcomes = [
    outcome('facts_1727539200', crashed),
    outcome('decision_w1n1_1727539200', { ...crashed, decides: true }),
    outcome('page_1727539200', { status: 'failed' }),
  ];
  expect(listCrashed({ outcomes })).toEqual([
    { delegation_id: 'facts_1727539200', title: 'Task facts_1727539200', reason: 'It broke off.' },
  ]);
});

const waveOf = (wave: number, ...ids: readonly string[]): StoredWave => ({
  wave,
  status: 'decided',
  plan_ref: null,
  outcomes: ids.map((id) => outcome(id, { status: 'failed', reason: 'It broke off.', crashes: 3 })),
  decision_ref: null,
  usage: noUsage,
  planned_at: 1,
  done_at: 2,
  shown: null,
});

/** An answer to the question about the tasks that crashed in a wave. */
const answerAfter = (crashed: StoredWave, answer: string): StoredAnswer => {
  const asked = tasksCrashedQuestion(listCrashed(crashed));
  const of = { kind: 'planner_stuck', wave: crashed.wave, delegation_id: null } as const;
  return storedAnswer(inboxQuestion({ ...asked, ...of }), answer);
};

const [first, last] = [
  waveOf(1, 'facts_1727539200'),
  waveOf(2, 'page_1727539200', 'docs_1727539200'),
];
const open = listCrashed(last);

it.each([
  ['was not answered', [], [], open],
  ['gave the other run up', ['abandon'], [], open],
  ['wants them again', ['retry'], ['page_1727539200', 'docs_1727539200'], []],
  ['left them to the planner', ['leave'], [], []],
])('GO6: a fork after tasks crashed, where the user %s', (_how, answers, again, crashed) => {
  const answered_questions = answers.map((answer) => answerAfter(last, answer));
  const waves = [waveOf(1), last];
  expect(settleCrashed({ waves, answered_questions })).toEqual({ again, crashed });
});

it('GO6: tasks of earlier waves that are wanted again stay so, and are not asked about', () => {
  const answered_questions = [answerAfter(first, 'retry')];
  expect(settleCrashed({ waves: [first, waveOf(2)], answered_questions })).toEqual({
    again: ['facts_1727539200'],
    crashed: [],
  });
  expect(settleCrashed({ waves: [first, waveOf(2)], answered_questions: [] }).crashed).toEqual([]);
  // Another question about the planner, of the same wave.
  const { question, ...rest } = answerAfter(last, 'retry');
  const other = question && { ...question, choices: ['retry', 'abandon'] };
  const answered = [{ ...rest, question: other }];
  expect(settleCrashed({ waves: [last], answered_questions: answered }).crashed).toEqual(open);
});
