import type { QuestionKind } from '../../../contracts/question.ts';
import { answerUnasked } from '../../../core/questions/answer-unasked.ts';
import { question } from './builders.ts';
import { informsWork } from '../../../core/questions/answer-kinds.ts';

const ask = { use_defaults: false, autonomy: 'ask' } as const;
const defaults = { use_defaults: true, autonomy: 'ask' } as const;
const assume = { use_defaults: false, autonomy: 'assume' } as const;

const withDefault = question({ default_answer: 'eu' });

describe('answers that a run gives by itself', () => {
  it('are none when its input does not say so', () => {
    expect(answerUnasked(withDefault, ask)).toBeNull();
  });

  it('AU1: with use_defaults each default is taken, and nothing else is made up', () => {
    expect(answerUnasked(withDefault, defaults)).toEqual({ text: 'eu', answered_by: 'default' });
    const critical = question({ default_answer: 'eu', priority: 'critical' });
    expect(answerUnasked(critical, defaults)).toMatchObject({ answered_by: 'default' });
    expect(answerUnasked(question(), defaults)).toBeNull();
  });

  it('AU2: with autonomy "assume" what is not critical is assumed, with or without a default', () => {
    expect(answerUnasked(withDefault, assume)).toEqual({ text: 'eu', answered_by: 'assumption' });
    const count = question({ expected_answer_format: 'number', priority: 'low' });
    expect(answerUnasked(count, assume)).toEqual({
      text: expect.stringMatching(/^None given: take the most careful/),
      answered_by: 'assumption',
    });
    const critical = question({ default_answer: 'eu', priority: 'critical' });
    expect(answerUnasked(critical, assume)).toBeNull();
    const both = { use_defaults: true, autonomy: 'assume' } as const;
    expect(answerUnasked(critical, both)).toMatchObject({ answered_by: 'default' });
  });

  it('AU3: what the engine asks is never assumed', () => {
    const kinds: readonly QuestionKind[] = ['planner_stuck', 'waves_spent'];
    for (const kind of kinds) {
      expect(answerUnasked(question({ kind, default_answer: 'eu' }), assume)).toBeNull();
    }
  });
});

it.each([
  ['blocking', true],
  ['planner', true],
  ['approval', false],
  ['effect', false],
  ['budget', false],
  ['waves_spent', false],
  ['planner_stuck', false],
  [undefined, true],
] as const)('IW1: an answer to a question of kind %s becomes a fact: %s', (kind, does) => {
  expect(informsWork(kind)).toBe(does);
});
