import { inboxQuestion, storedAnswer } from '../../support/factories.ts';
import {
  listTaskQuestions,
  nameTask,
  reduceQuestion,
} from '../../../core/questions/check-asked-questions.ts';

describe('reduceQuestion', () => {
  it.each([
    ['Is each e-mail unique?', 'Is the email of each unique'],
    ['Which tables are needed?', 'Are tables needed -- which?'],
  ])('RQ1: %j comes again as %j', (first, again) => {
    expect(reduceQuestion(again)).toBe(reduceQuestion(first));
  });

  it.each([
    ['Which port should service A use?', 'Which port should service B use?'],
    ['May version 1 be dropped?', 'May version 2 be dropped?'],
    ['Does the orders service write?', 'Does the billing service write?'],
    ['Which id has user_name?', 'Which id has user_mail?'],
    ['日本語の質問ですか', '別の質問ですか'],
  ])('RQ2: %j and %j are different', (first, other) => {
    expect(reduceQuestion(first)).not.toBe(reduceQuestion(other));
  });

  it('a text without words keeps its form', () => {
    expect(reduceQuestion('is it?')).toBe('is it');
    expect(reduceQuestion('?!')).toBe('?!');
  });
});

it('a later attempt is the same task', () => {
  expect(nameTask('ship_rates-2_1727539203')).toBe('ship_rates_1727539203');
  expect(nameTask('plan-2')).toBe('plan-2');
});

const by = (delegation_id: string) => ({ delegation_id });

it('RQ3: the history of a task has all its attempts, whoever asked with it, answered or not', () => {
  const joined = inboxQuestion({
    question_id: 'q3',
    ...by('prices_1727539204'),
    also_asked_by: [{ ...by('ship_rates-3_1727539203'), agent_id: 'engineer' }],
  });
  const history = listTaskQuestions('ship_rates-3_1727539203', {
    answered_questions: [
      storedAnswer(inboxQuestion({ question_id: 'q10', ...by('ship_rates-2_1727539203') })),
      storedAnswer(inboxQuestion({ question_id: 'q2', ...by('prices_1727539204') })),
      { ...storedAnswer(inboxQuestion(by('ship_rates_1727539203'))), question: null },
      storedAnswer(joined),
    ],
    open_questions: [
      inboxQuestion({ question_id: 'q4', ...by('ship_rates-3_1727539203'), text: 'Where to?' }),
      inboxQuestion({ question_id: 'q5', delegation_id: null }),
    ],
  });
  expect(history).toMatchObject([
    { question_id: 'q1', answered: { answer: 'EU' } },
    { question_id: 'q3' },
    { question_id: 'q4', text: 'Where to?', answered: null },
    { question_id: 'q10', answered: { delegation_id: 'ship_rates-2_1727539203' } },
  ]);
});
