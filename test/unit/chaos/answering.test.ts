import { composeAnswers } from '../../chaos/answering.ts';
import { createPrng } from '../../support/prng.ts';
import { askings } from '../../chaos/reference-run.ts';

const asked = [
  { question_id: 'q1', delegation_id: 'region' },
  { question_id: 'q2', delegation_id: 'costs' },
];
const composed = Array.from({ length: 50 }, (_one, seed) =>
  composeAnswers(asked, createPrng(seed)),
);

it('what comes first to a question is its answer, whatever the order of the questions', () => {
  for (const sent of composed) {
    for (const { question_id, delegation_id } of asked) {
      const first = sent.find((one) => one.question_id === question_id);
      expect(first).toEqual({ question_id, answer: askings[delegation_id]?.answer, kind: 'first' });
    }
  }
  expect(new Set(composed.map(([first]) => first?.question_id))).toEqual(new Set(['q1', 'q2']));
});

it('some are sent again, and some late ones are other answers', () => {
  const sent = composed.flat();
  const isAnswer = ({ question_id, answer }: (typeof sent)[number]): boolean =>
    answer === askings[question_id === 'q1' ? 'region' : 'costs']?.answer;
  expect(sent.filter(({ kind }) => kind === 'again').map(isAnswer)).toContain(true);
  expect(sent.filter(({ kind }) => kind === 'late').map(isAnswer)).not.toContain(true);
  expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['first', 'again', 'late']));
});
