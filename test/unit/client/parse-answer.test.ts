import { answerText, parseAnswer } from '../../../client/cli/ask/answers.ts';
import { question } from './support/samples.ts';

it.each([
  ['y', true],
  ['YES', true],
  [' true ', true],
  ['n', false],
  ['No', false],
  ['perhaps', 'perhaps'],
])('boolean: %j is %j', (typed, value) => {
  expect(parseAnswer(question({ expected_answer_format: 'boolean' }), typed)).toBe(value);
});

it.each([
  ['42', 42],
  [' -1.5 ', -1.5],
  ['many', 'many'],
  ['', ''],
  ['9007199254740993', '9007199254740993'],
  ['0x10', '0x10'],
])('number: %j is %j', (typed, value) => {
  expect(parseAnswer(question({ expected_answer_format: 'number' }), typed)).toBe(value);
});

it.each([
  ['2', 'us-east'],
  ['EU-west', 'eu-west'],
  ['us-east', 'us-east'],
  ['3', '3'],
  ['mars', 'mars'],
])('choice: %j is %j', (typed, value) => {
  const choices = ['eu-west', 'us-east'];
  expect(parseAnswer(question({ expected_answer_format: 'choice', choices }), typed)).toBe(value);
});

it('choice: its words win over its number', () => {
  const choices = ['2', '1'];
  expect(parseAnswer(question({ expected_answer_format: 'choice', choices }), '1')).toBe('1');
});

it('json: parsed when it can be, else passed on for the run to explain', () => {
  const asked = question({ expected_answer_format: 'json' });
  expect(parseAnswer(asked, '{"a":[1]}')).toEqual({ a: [1] });
  expect(parseAnswer(asked, '{a}')).toBe('{a}');
});

it('text: exactly as typed', () => {
  expect(parseAnswer(question(), '  two  words ')).toBe('  two  words ');
});

it('words any answer as it is typed', () => {
  expect([
    answerText('a b'),
    answerText(true),
    answerText({ a: 1 }),
    answerText(undefined),
  ]).toEqual(['a b', 'true', '{"a":1}', '']);
});
