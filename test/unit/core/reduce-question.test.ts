import { nameTask, reduceQuestion } from '../../../core/questions/reduce-question.ts';

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
