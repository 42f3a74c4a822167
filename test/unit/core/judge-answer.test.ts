import * as fc from 'fast-check';
import { answererNames, chatAnswerer } from '../../../contracts/names.ts';
import type { Question } from '../../../contracts/question.ts';
import { acceptAnswer, judgeAnswer } from '../../../core/questions/judge-answer.ts';
import { checkAmend } from '../../../core/run/check-control.ts';
import { cutMiddle } from '../../../core/text/cut-text.ts';
import { deepList, property, question } from './builders.ts';

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
    for (const answered_by of [
      'default',
      'assumption',
      'planner',
      'planner-assumption',
      ' planwave\n',
    ]) {
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

  it.each(['choice', 'json'] as const)(
    'JA1: an answer too deep for the stack is another one than was taken: %s',
    (expected_answer_format) => {
      const asked = question({ expected_answer_format, choices: ['[]'] });
      expect(
        judgeAnswer(answeredWith(asked, '[]'), { question_id: 'q1', answer: deepList }),
      ).toMatchObject({ type: 'refused', reason: expect.stringContaining('"[]" by ada') });
    },
  );

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

  it('JA11: a person who repeats what no person had said confirms it', () => {
    const same = { question_id: 'q2', answer: 1 };
    const confirms = (answered_by: string, payload: object, asked = region): unknown => {
      const answered = { q2: acceptAnswer(asked, 'eu-west', { answered_by, now: 2_000 }) };
      const verdict = judgeAnswer({ open: [], answered }, { ...same, ...payload });
      return verdict.type === 'repeated' && verdict.confirms;
    };
    const unsaid = Object.values(answererNames).filter((name) => name !== answererNames.engine);
    for (const name of [...unsaid, chatAnswerer]) {
      expect(confirms(name, {})).toBe(true);
      expect(confirms(name, { answered_by: 'Ada' })).toBe(true);
      expect(confirms(name, { as_default: true })).toBeUndefined();
      expect(confirms(name, { answered_by: chatAnswerer })).toBeUndefined();
      expect(confirms(name, {}, { ...region, kind: 'approval' })).toBeUndefined();
    }
    expect(confirms('Ada', {})).toBeUndefined();
    expect(confirms(answererNames.engine, {})).toBeUndefined();
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

describe('finding L7: names of the engine', () => {
  it('finding L7: JA7: only a marked default is signed as default, and only if it is the default', () => {
    const asked = question({ default_answer: 'Oslo' });
    const judge = (payload: object) =>
      judgeAnswer({ open: [asked], answered: {} }, { question_id: 'q1', ...payload });
    expect(judge({ answer: 'Oslo', answered_by: 'default' })).toMatchObject({ answered_by: null });
    expect(judge({ answer: 'Oslo', as_default: true })).toMatchObject({ answered_by: 'default' });
    expect(judge({ answer: 'Bergen', as_default: true })).toMatchObject({
      type: 'refused',
      reason: 'q1: as_default is true, but the answer is not the default',
    });
    expect(judge({ answer: 'Oslo', as_default: 'yes' })).toMatchObject({ type: 'refused' });
  });
});

const refused = (reason: string) => ({ ok: false, reason: expect.stringContaining(reason) });

describe('finding U3: unknown fields', () => {
  it('finding U3: JA8: a mistyped question_id answers nothing, and the right name is shown', () => {
    const only = { open: [region], answered: {} };
    expect(judgeAnswer(only, { qestion_id: 'q7', answer: 'eu-west' })).toMatchObject({
      type: 'refused',
      reason: 'unknown field "qestion_id". Did you mean "question_id"?',
      example: { question_id: 'q2' },
    });
    expect(judgeAnswer(only, { answer: 'eu-west', colour: 1 })).toMatchObject({
      reason: expect.stringContaining('Fields are: "question_id", "answer"'),
    });
    const long = judgeAnswer(only, { ['x'.repeat(100_000)]: 1 });
    expect(JSON.stringify(long).length).toBeLessThan(1_000);
  });

  it('finding U3: an instruction with an unknown field is refused, also in its parts', () => {
    expect(checkAmend({ instruktion: 'x' })).toMatchObject(refused('mean "instruction"?'));
    expect(checkAmend({ answers: [{ question: 'q1', answer: 'x' }] })).toMatchObject(
      refused('"question"'),
    );
    expect(checkAmend({ facts: { key: 'a', vale: 'b' } })).toMatchObject(refused('mean "value"?'));
  });
});

it('JA8: no known field is missing from the list: a whole answer is taken', () => {
  const whole = { question_id: 'q1', answer: 'Oslo', answered_by: 'Ana', as_default: false };
  expect(judgeAnswer(inbox, whole)).toMatchObject({ type: 'taken', answered_by: 'Ana' });
});

it('JA9: other questions need no approver', () => {
  const answer = { question_id: 'q1', answer: 'Oslo' };
  expect(judgeAnswer(inbox, answer, ['Ana'])).toMatchObject({ type: 'taken', answered_by: null });
});

it('JA10: a chat client answers questions about the work, and decides nothing else', () => {
  const kinds = [
    ...(['blocking', 'planner', 'design'] as const),
    ...(['approval', 'plan_approval', 'effect', 'budget', 'changes', 'waves_spent'] as const),
  ];
  const verdicts = kinds.map((kind) => {
    const open = [question({ question_id: 'q1', kind })];
    const payload = { question_id: 'q1', answer: 'Oslo', answered_by: 'mcp' };
    return judgeAnswer({ open, answered: {} }, payload).type;
  });
  const allRefused = Array.from({ length: 6 }, () => 'refused');
  expect(verdicts).toEqual(['taken', 'taken', 'taken', ...allRefused]);
});

describe('finding T8: decisions that let the run act or spend', () => {
  const approval = question({
    question_id: 'q1',
    kind: 'approval',
    expected_answer_format: 'choice',
    choices: ['approve', 'deny'],
    default_answer: 'deny',
  });
  const only = { open: [approval], answered: {} };

  it('finding T8: JA6: an answer without the id, or with a number, never approves', () => {
    for (const kind of ['approval', 'effect', 'budget'] as const) {
      const one = { open: [{ ...approval, kind }], answered: {} };
      for (const payload of [
        { answer: '1' },
        { answer: 1 },
        { answer: 'approve' },
        { question_id: 'q1', answer: '1' },
        { question_id: 'q1', answer: 1 },
      ]) {
        const verdict = judgeAnswer(one, payload);
        expect(verdict).toMatchObject({ type: 'refused' });
        expect(verdict).toMatchObject({ example: { question_id: 'q1', answer: 'deny' } });
      }
      expect(judgeAnswer(one, { question_id: 'q1', answer: 'Approve' })).toMatchObject({
        type: 'taken',
        text: 'approve',
      });
    }
  });

  it('finding T8: JA9: only an approver decides, and the name says that it is self-stated', () => {
    const judge = (answered_by: string | undefined, answer = 'approve') =>
      judgeAnswer(only, { question_id: 'q1', answer, answered_by }, ['Ana', 'Bo']);
    expect(judge('Ana')).toMatchObject({ type: 'taken', answered_by: 'Ana (self-stated)' });
    for (const name of ['Eve', 'ana', undefined]) {
      expect(judge(name)).toMatchObject({
        type: 'refused',
        reason: expect.stringContaining(
          'only "Ana", "Bo" may decide this. Try: planwave answer with --as and that name',
        ),
      });
    }
    const denied = { question_id: 'q1', answer: 'deny', as_default: true };
    expect(judgeAnswer(only, denied, ['Ana'])).toMatchObject({ answered_by: 'default' });
    expect(judgeAnswer({ open: [region], answered: {} }, { answer: 1 }, ['Ana'])).toMatchObject({
      type: 'taken',
    });
  });

  it('finding T8: long arguments are shown with their beginning and their end', () => {
    const text = `${'a'.repeat(5_000)}rm -rf`;
    const shown = cutMiddle(text, 800);
    expect(shown.length).toBeLessThanOrEqual(800);
    expect(shown.startsWith('aaa')).toBe(true);
    expect(shown.endsWith('rm -rf')).toBe(true);
    expect(shown).toContain('of 5006 characters left out');
    expect(cutMiddle('short', 800)).toBe('short');
  });
});
