import * as fc from 'fast-check';
import type { Question } from '../../../contracts/question.ts';
import { acceptAnswer, judgeAnswer } from '../../../core/questions/judge-answer.ts';
import { property, question } from './builders.ts';

const by = { answered_by: 'ada', now: 2_000 };

const region = question({
  question_id: 'q2',
  expected_answer_format: 'choice',
  choices: ['eu-west', 'US-East'],
});

const inbox = { open: [question(), region], answered: {} };

/** An inbox in which only `asked` was ever open, and has been answered with `text`. */
const answeredWith = (asked: Question, text: string) => ({
  open: [],
  answered: { [asked.question_id]: acceptAnswer(asked, text, by) },
});

describe('judgeAnswer', () => {
  it('JA1: any payload gets a verdict', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        expect(judgeAnswer(inbox, payload).type).toBe('refused');
      }),
      property,
    );
    for (const payload of [null, 'q1', 3, ['q1'], {}, { question_id: 7 }]) {
      expect(judgeAnswer(inbox, payload)).toMatchObject({
        type: 'refused',
        example: { question_id: 'q1', answer: 'your answer' },
      });
    }
  });

  it('JA2: an answer is taken when the question is open and its format takes it', () => {
    expect(judgeAnswer(inbox, { question_id: 'q2', answer: 'us-east' })).toEqual({
      type: 'taken',
      question: region,
      text: 'US-East',
      answered_by: null,
    });
    expect(
      judgeAnswer(inbox, { question_id: ' Q1 ', answer: 'Oslo', answered_by: ' Ada\n' }),
    ).toMatchObject({ type: 'taken', text: 'Oslo', answered_by: 'Ada' });
    expect(judgeAnswer(inbox, { question_id: 'q2', answer: 'asia' })).toEqual({
      type: 'refused',
      question_id: 'q2',
      reason: 'q2: expected one of "eu-west", "US-East"',
      example: { question_id: 'q2', answer: 'eu-west' },
    });
    expect(judgeAnswer(inbox, { question_id: 'q1' })).toMatchObject({
      reason: 'q1: the answer is missing',
    });
  });

  it('JA7: nobody signs as the engine', () => {
    for (const answered_by of ['assumption', 'planner', 'planner-assumption', ' planwave\n']) {
      const verdict = judgeAnswer(inbox, { question_id: 'q1', answer: 'Oslo', answered_by });
      expect(verdict).toMatchObject({ type: 'taken', answered_by: null });
    }
  });

  it('JA2: fault 40: an unknown id is refused with the open ones', () => {
    expect(judgeAnswer(inbox, { question_id: 'q9', answer: 'x' })).toMatchObject({
      type: 'refused',
      question_id: 'q9',
      reason: 'there is no question "q9" in this run. Open: "q1", "q2"',
    });
    for (const id of ['__proto__', 'constructor', 'toString']) {
      expect(judgeAnswer(inbox, { question_id: id, answer: 'x' }).type).toBe('refused');
    }
    expect(judgeAnswer({ open: [], answered: {} }, { question_id: 'q1', answer: 1 })).toMatchObject(
      {
        reason: 'there is no question "q1" in this run. No question is open',
        example: null,
      },
    );
  });

  it('JA3: fault 39: another answer is refused and shows the first', () => {
    const verdict = judgeAnswer(answeredWith(region, 'eu-west'), {
      question_id: 'q2',
      answer: 'US-East',
    });
    expect(verdict).toMatchObject({ type: 'refused', example: null });
    expect(verdict).toHaveProperty('reason', expect.stringContaining('"eu-west" by ada'));
  });

  it('JA3: fault 44: after a default the late answer is refused with why', () => {
    const late = {
      open: [],
      answered: { q2: acceptAnswer(region, 'eu-west', { answered_by: 'default', now: 1 }) },
    };
    const verdict = judgeAnswer(late, { question_id: 'q2', answer: 'US-East' });
    expect(verdict).toHaveProperty(
      'reason',
      expect.stringContaining('the default was taken: "eu-west"'),
    );
  });

  it.each<[Question['expected_answer_format'], string, readonly unknown[], readonly unknown[]]>([
    ['choice', 'US-East', ['us-east', ' US-East ', 2, '2'], ['eu-west', 1, null, {}]],
    ['boolean', 'true', [true, 'yes', 'TRUE'], [false, 'no', 'maybe']],
    ['number', '3', [3, '3.0', ' 3'], [4, 'three']],
    ['text', 'Oslo', ['Oslo'], ['oslo', '', undefined]],
    ['json', '{"a":1}', [{ a: 1 }, '{"a": 1}'], [{ a: 2 }, '{']],
    ['json', '"3"', ['"3"', '3'], [4, 'x']],
  ])('JA4: %s "%s": the same in other spellings is the same', (format, text, same, other) => {
    const asked = question({ expected_answer_format: format, choices: region.choices });
    const after = answeredWith(asked, text);
    for (const answer of same) {
      expect(judgeAnswer(after, { question_id: 'q1', answer })).toEqual({
        type: 'repeated',
        question_id: 'q1',
      });
    }
    for (const answer of other) {
      expect(judgeAnswer(after, { question_id: 'q1', answer }).type).toBe('refused');
    }
  });

  it('JA4: whatever was taken is the same when it is sent again', () => {
    const formats = fc.constantFrom<Question['expected_answer_format']>(
      'text',
      'boolean',
      'number',
      'choice',
      'json',
    );
    const answers = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>('yes', '2', 2, 'EU-WEST'));
    fc.assert(
      fc.property(formats, answers, (format, answer) => {
        const asked = question({ expected_answer_format: format, choices: region.choices });
        const payload = { question_id: 'q1', answer };
        const verdict = judgeAnswer({ open: [asked], answered: {} }, payload);
        if (verdict.type !== 'taken') return;
        const again = judgeAnswer(answeredWith(asked, verdict.text), payload);
        expect(again).toEqual({ type: 'repeated', question_id: 'q1' });
      }),
      { ...property, numRuns: 2_000 },
    );
  });

  it('JA5: an example that stands beside a refusal would be taken', () => {
    for (const payload of [7, { question_id: 'qx', answer: 1 }, { question_id: 'q2', answer: 9 }]) {
      const verdict = judgeAnswer(inbox, payload);
      if (verdict.type !== 'refused') throw new Error('expected a refusal');
      expect(judgeAnswer(inbox, verdict.example).type).toBe('taken');
    }
  });

  it('JA6: without an id the only open question is meant; with several none is', () => {
    const only = { open: [region], answered: {} };
    expect(judgeAnswer(only, { answer: 1 })).toMatchObject({ type: 'taken', text: 'eu-west' });
    expect(judgeAnswer(inbox, { answer: 1 })).toMatchObject({
      type: 'refused',
      reason: 'question_id is missing. Open: "q1", "q2"',
    });
  });
});
