import { resolveAnswer } from '../../../client/cli/ask/answers.ts';
import { question } from './support/samples.ts';

const [q1, q2] = [question(), question({ question_id: 'q2' })];

it('takes the id and the words behind it', () => {
  expect(resolveAnswer(['q2', 'eu', 'west'], [q1, q2], null)).toEqual({
    type: 'questions',
    candidates: [q2],
    text: 'eu west',
  });
});

it('takes the only open question when no id was given', () => {
  expect(resolveAnswer(['eu', 'west'], [q1], null)).toEqual({
    type: 'questions',
    candidates: [q1],
    text: 'eu west',
  });
  expect(resolveAnswer([], [q1], null)).toMatchObject({ candidates: [q1], text: null });
});

it('offers all open questions when nothing was given', () => {
  expect(resolveAnswer([], [q1, q2], null)).toMatchObject({ candidates: [q1, q2], text: null });
});

it('leaves ids that are not open to the run, which says why they are refused', () => {
  expect(resolveAnswer(['q9', 'x'], [q1], null)).toEqual({
    type: 'id_only',
    question_id: 'q9',
    text: 'x',
  });
});

it('passes an id and an answer on when no worker can list the questions', () => {
  expect(resolveAnswer(['q1', 'x'], null, 'no worker')).toMatchObject({ type: 'id_only' });
});

it.each([
  [['eu'], [q1, q2], 'Which question is meant? Open: q1, q2.'],
  [['q9'], [q1], 'Which question is meant? Open: q1.'],
  [['eu'], [], 'No question is open.'],
  [[], [], 'No question is open.'],
  [[], null, "The open questions can't be listed"],
  [['q1'], null, "The open questions can't be listed"],
])('%j among %j is unclear', (words, open, message) => {
  const target = resolveAnswer(words, open, 'No worker is running.');
  expect(target).toMatchObject({ type: 'unclear', message: expect.stringContaining(message) });
});
