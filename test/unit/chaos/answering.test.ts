import { composeAnswers } from '../../chaos/answering.ts';
import { runWithTriad } from '../../chaos/runs/with-triad.ts';
import { createPrng } from '../../support/prng.ts';

const { askings } = runWithTriad;
const asked = askings.map((one, index) => ({
  question_id: `q${index + 1}`,
  text: one.asked.text,
  answer: one.answer,
  kind: 'blocking' as const,
}));
const composed = Array.from({ length: 50 }, (_one, seed) =>
  composeAnswers(asked, askings, createPrng(seed)),
);

it('what comes first to a question is its answer, whatever the order of the questions', () => {
  for (const sent of composed) {
    for (const { question_id, answer } of asked) {
      const first = sent.find((one) => one.question_id === question_id);
      expect(first).toEqual({ question_id, answer, kind: 'first' });
    }
  }
  expect(new Set(composed.map(([first]) => first?.question_id))).toEqual(new Set(['q1', 'q2']));
});

it('some are sent again, and some late ones are other answers', () => {
  const sent = composed.flat();
  const isAnswer = ({ question_id, answer }: (typeof sent)[number]): boolean =>
    asked.some((one) => one.question_id === question_id && one.answer === answer);
  expect(sent.filter(({ kind }) => kind === 'again').map(isAnswer)).toContain(true);
  expect(sent.filter(({ kind }) => kind === 'late').map(isAnswer)).not.toContain(true);
  expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['first', 'again', 'late']));
});
