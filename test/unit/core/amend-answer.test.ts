import * as fc from 'fast-check';
import { acceptAnswer, judgeAnswer } from '../../../core/questions/judge-answer.ts';
import { openInbox } from '../../../core/questions/step-inbox.ts';
import { hashText } from '../../../core/text/hash-text.ts';
import { property, question } from './builders.ts';
import { amendAnswer, judgeAmendedAnswer } from '../../../core/questions/settle-question.ts';

const choice = question({ expected_answer_format: 'choice', choices: ['EU', 'US'] });
const asked = {
  open: [{ question_id: 'q3' }],
  answered: [
    { question_id: 'q1', question: choice },
    { question_id: 'q2', question: null },
  ],
};

const reasonOf = (id: string, answer: unknown) => {
  const verdict = judgeAmendedAnswer(asked, id, answer);
  return verdict.ok ? 'taken' : verdict.reason;
};

describe('judgeAmendedAnswer', () => {
  it("JM1: an answered question's answer is changed by the rules of an answer, no other", () => {
    expect(judgeAmendedAnswer(asked, 'q1', ' us ')).toEqual({ ok: true, text: 'US' });
    expect(judgeAmendedAnswer(asked, 'q1', '2')).toEqual({ ok: true, text: 'US' });
    expect(reasonOf('q1', 'Mars')).toContain('q1: expected one of "EU", "US"');
    expect(reasonOf('q1', 'Mars')).toContain('Try: {"question_id":"q1","answer":"EU"}');
    expect(reasonOf('q2', 'x')).toContain('not known any more');
    expect(reasonOf('q3', 'x')).toContain('still open. Try: planwave answer, or the signal answer');
    expect(reasonOf('q9', 'x')).toContain('Try: one of "q1", "q2"');
  });

  it('JM2: any payload gets a verdict', () => {
    fc.assert(
      fc.property(fc.string(), fc.anything(), (id, answer) => {
        expect(reasonOf(id, answer)).not.toBe('');
        expect(reasonOf('q1', answer)).not.toBe('');
      }),
      property,
    );
  });
});

it('JM3: a decision that let the run act or spend is not changed, and no refusal offers it', () => {
  for (const kind of ['approval', 'plan_approval', 'effect', 'budget', 'changes'] as const) {
    const decided = question({
      kind,
      expected_answer_format: 'choice',
      choices: ['approve', 'deny'],
    });
    const record = { open: [], answered: [{ question_id: 'q1', question: decided }] };
    for (const answer of ['approve', 'deny', 'x']) {
      expect(judgeAmendedAnswer(record, 'q1', answer)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('q1 is a decision that lets the run act or spend'),
      });
    }
    const answered = { q1: acceptAnswer(decided, 'deny', { answered_by: 'Ana', now: 1 }) };
    const again = judgeAnswer({ open: [], answered }, { question_id: 'q1', answer: 'approve' });
    expect(again).toMatchObject({
      type: 'refused',
      reason: expect.stringMatching(/first answer$/),
    });
  }
});

it('AA1: the new answer is the answer, whatever else is in the inbox stays, and twice is once', () => {
  const by = { answered_by: 'Ada', now: 1 };
  const answered = { q1: acceptAnswer(choice, 'EU', by), q2: acceptAnswer(choice, 'US', by) };
  const inbox = { ...openInbox(null), answered };
  const amended = { question_id: 'q1', answer: 'US', hash: hashText('US') };
  const after = amendAnswer(inbox, amended, 5);
  expect(after).toEqual({
    ...inbox,
    answered: {
      ...answered,
      q1: {
        ...answered.q1,
        hash: hashText('US'),
        same_hashes: [],
        shown: 'US',
        answered_by: 'user',
        answered_at: 5,
      },
    },
  });
  expect(amendAnswer(after, amended, 9)).toBe(after);
  expect(amendAnswer(inbox, { ...amended, question_id: 'constructor' }, 5)).toBe(inbox);
  expect(judgeAnswer(after, { question_id: 'q1', answer: 'US' })).toMatchObject({
    type: 'repeated',
  });
  expect(judgeAnswer(after, { question_id: 'q1', answer: 'EU' })).toMatchObject({
    type: 'refused',
  });
});

it('AA2: the text of an assumption becomes the answer of the user', () => {
  const by = { answered_by: 'planner-assumption', now: 1 };
  const inbox = { ...openInbox(null), answered: { q1: acceptAnswer(choice, 'EU', by) } };
  const confirmed = { question_id: 'q1', answer: 'EU', hash: hashText('EU') };
  const after = amendAnswer(inbox, confirmed, 5);
  expect(after.answered).toMatchObject({ q1: { answered_by: 'user', shown: 'EU' } });
  expect(amendAnswer(after, confirmed, 9)).toBe(after);
});
