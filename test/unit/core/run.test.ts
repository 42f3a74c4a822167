import * as fc from 'fast-check';
import { engineLimits, defaultLimits } from '../../../core/limits.ts';
import {
  amendTooLate,
  checkAmend,
  checkControl,
  checkResume,
  findAnswersFault,
  unknownCriteria,
} from '../../../core/run/check-control.ts';
import { checkEscalation } from '../../../core/run/read-escalations.ts';
import { decideNextStep, isFlooded } from '../../../core/run/decide-next-step.ts';
import { asked, criterion, deepList, escalation, property } from './builders.ts';
import { limitMaxima } from '../../../contracts/limit-maxima.ts';

const base = {
  criteria: [criterion('a')],
  wave: 1,
  waves_allowed: 5,
  input_pending: false,
  last_io_status: null,
};

describe('decideNextStep', () => {
  it('N1: ends as completed exactly when the criteria are done', () => {
    const done = [criterion('a', 'met'), criterion('b', 'waived')];
    expect(decideNextStep({ ...base, criteria: done })).toEqual({
      type: 'end',
      status: 'completed',
    });
    expect(decideNextStep({ ...base, criteria: done, wave: 5 }).type).toBe('end');
    expect(decideNextStep({ ...base, criteria: [], wave: 0 })).toEqual({ type: 'wave' });
  });

  it('finding F2, N1: a run is not done before a planning step has considered what the user said', () => {
    const done = { ...base, criteria: [criterion('a', 'met')], input_pending: true };
    expect(decideNextStep(done)).toEqual({ type: 'wave' });
    expect(decideNextStep({ ...done, wave: 5 })).toEqual({ type: 'waves_spent', open: [] });
  });

  it.each(['OK', 'NOT_OK', null] as const)('N2: io_status %s decides nothing', (last_io_status) => {
    expect(decideNextStep({ ...base, last_io_status })).toEqual({ type: 'wave' });
    const criteria = [criterion('a', 'met')];
    expect(decideNextStep({ ...base, criteria, last_io_status }).type).toBe('end');
  });

  it('N3: beyond the allowed waves the open criteria are named', () => {
    const criteria = [criterion('a'), criterion('b', 'met'), criterion('c')];
    expect(decideNextStep({ ...base, criteria, wave: 5 })).toEqual({
      type: 'waves_spent',
      open: ['a', 'c'],
    });
    expect(decideNextStep({ ...base, wave: 9 }).type).toBe('waves_spent');
  });
});

describe('messages that steer a run', () => {
  it('K1: no payload throws', () => {
    fc.assert(
      fc.property(fc.anything(), (payload) => {
        checkAmend(payload);
        expect(typeof checkControl(payload).reason).toBe('string');
        expect(checkEscalation(payload)).toBeNull();
      }),
      property,
    );
    for (const type of [deepList, { toString: 1 }]) expect(checkEscalation({ type })).toBeNull();
  });

  it('K2: an instruction is taken exactly as it was sent', () => {
    const instruction = '  Look at prices too.\r\n😀 ';
    expect(checkAmend({ instruction })).toEqual({ ok: true, amend: { instruction } });
    expect(checkAmend({ instruction: 'x', waive_criteria: ['c1', ' c1', 'c2'] })).toEqual({
      ok: true,
      amend: { instruction: 'x', waive_criteria: ['c1', 'c2'] },
    });
    expect(checkAmend({ waive_criteria: 'goal-1' })).toEqual({
      ok: true,
      amend: {
        instruction: 'The user gave up these criteria: "goal-1".',
        waive_criteria: ['goal-1'],
      },
    });
  });

  it('K2: answers are taken with their ids, and stand for an instruction', () => {
    const answers = [
      { question_id: ' Q1', answer: { a: 1 } },
      { question_id: 'q2', answer: 'x' },
    ];
    const read = [{ question_id: 'q1', answer: { a: 1 } }, answers[1]];
    expect(checkAmend({ instruction: 'x', answers })).toEqual({
      ok: true,
      amend: { instruction: 'x', answers: read },
    });
    expect(checkAmend({ answers: answers[1], waive_criteria: ['c'] })).toEqual({
      ok: true,
      amend: {
        instruction: 'The user gave up these criteria: "c". The user changed the answers to: "q2".',
        waive_criteria: ['c'],
        answers: [answers[1]],
      },
    });
  });

  it('K2: facts are taken with their keys, and stand for an instruction', () => {
    const facts = { key: ' hosting region ', value: 'eu-west' };
    const read = [{ key: 'hosting region', value: 'eu-west' }];
    expect(checkAmend({ facts })).toEqual({
      ok: true,
      amend: { instruction: 'The user says: hosting region is eu-west.', facts: read },
    });
    expect(checkAmend({ instruction: 'x', facts: [{ key: 'copies', value: 3 }] })).toEqual({
      ok: true,
      amend: { instruction: 'x', facts: [{ key: 'copies', value: '3' }] },
    });
  });

  it.each([
    [null, 'JSON object'],
    [{ instruction: 'x', facts: 'region' }, 'facts must be a list'],
    [{ facts: [{ key: ' ', value: 'x' }] }, 'facts must be a list'],
    [{ facts: [{ key: 'a', value: 'x'.repeat(201) }] }, 'at most 200'],
    [
      {
        facts: [
          { key: 'a', value: '1' },
          { key: 'A!', value: '2' },
        ],
      },
      'each key once',
    ],
    ['text', 'JSON object'],
    [{}, 'empty'],
    [{ instruction: ' ' }, 'empty'],
    [{ instruction: 3 }, 'must be text'],
    [{ instruction: 'a\u0000' }, 'NUL'],
    [{ instruction: 'a\ud800' }, 'surrogate'],
    [{ instruction: 'x'.repeat(4_001) }, '4001 characters, the limit is 4000'],
    [{ instruction: 'x', waive_criteria: [3] }, 'waive_criteria'],
    [{ instruction: 'x', answers: 'q1' }, 'question_id and answer'],
    [{ answers: [{ question_id: ' ', answer: 1 }] }, 'question_id and answer'],
    [
      { answers: Array.from({ length: 21 }, () => ({ question_id: 'q1', answer: 1 })) },
      'at most 20',
    ],
    [{ instruction: 'x', waive_criteria: Array(101).fill('c') }, 'waive_criteria'],
    [{ waive_criteria: deepList }, 'waive_criteria'],
    [{ facts: { key: 'a', value: deepList } }, 'facts must be a list'],
  ])('K2: refused with the reason and an example: %#', (payload, reason) => {
    const checked = checkAmend(payload);
    if (checked.ok) throw new Error('expected a refusal');
    expect(checked.reason).toContain(reason);
    expect(checkAmend(checked.example).ok).toBe(true);
    expect(checked.reason).toContain(`Try: ${JSON.stringify(checked.example)}`);
  });

  it.each([
    [[deepList], 'q3: the answer is nested deeper'],
    [[['a\u0000']], 'q3: the answer contains a NUL'],
    [['x'.repeat(200_001)], 'q3: the answer has 200001'],
    [Array<string>(4).fill('x'.repeat(199_000)), 'characters as JSON, the limit is 600000'],
  ])('K2: changed answers that no activity could get are refused: %#', (given, reason) => {
    const answers = given.map((answer) => ({ question_id: 'q3', answer }));
    const checked = checkAmend({ answers });
    expect(checked.ok && findAnswersFault(checked.amend.answers ?? [])).toContain(reason);
    expect(findAnswersFault([{ question_id: 'q3', answer: { a: [null, 'x'] } }])).toBeNull();
  });

  it('K3: pause, resume and stop take nothing, or a reason', () => {
    expect(checkControl({ reason: 'lunch\n' })).toEqual({ ok: true, reason: 'lunch' });
    expect(checkControl('lunch')).toEqual({ ok: true, reason: 'lunch' });
    for (const nothing of [undefined, null, {}, { reason: null }]) {
      expect(checkControl(nothing)).toEqual({ ok: true, reason: '' });
    }
    expect(checkControl({ reason: 'x'.repeat(9_000) }).reason).toHaveLength(500);
  });

  it('criteria that do not exist are refused with those that do', () => {
    expect(unknownCriteria(['a'], [criterion('a')])).toBeNull();
    expect(unknownCriteria(['a', 'b', 'c'], [criterion('a')])).toBe(
      'Signal amend: there is no criterion "b", "c". Criteria are: "a".',
    );
    expect(unknownCriteria(['b'], [])).toContain('There are none yet.');
  });

  it('a part that was started alone is not forked for a late instruction', () => {
    expect(amendTooLate('my-run', 1)).toContain('fork my-run --wave 2, with --amend');
    expect(amendTooLate('my-task', null)).toMatch(/its work has ended\. Try: start a new one/);
  });

  it('K3: a resume may leave a pause', () => {
    expect(checkResume({ parked_only: true, reason: 'raised' })).toEqual({
      ok: true,
      reason: 'raised',
      parkedOnly: true,
    });
    expect(checkResume({ parked_only: false })).toMatchObject({ ok: true, parkedOnly: false });
    expect(checkResume(undefined)).toEqual({ ok: true, reason: '', parkedOnly: false });
    for (const bad of [{ parked_only: 'yes' }, { parked_only: true, other: 1 }, { only: true }]) {
      expect(checkResume(bad)).toMatchObject({ ok: false, parkedOnly: expect.any(Boolean) });
    }
  });

  it.each([
    [5],
    [true],
    [['lunch']],
    [{ reason: 5 }],
    [{ unreadable: '{', encoding: 'json/plain' }],
  ])('finding L8: K3: a stop with %j is refused with what was expected', (payload) => {
    const { ok, reason } = checkControl(payload);
    expect(ok).toBe(false);
    expect(reason).toContain('expected {"reason":"…"} or nothing');
    expect(reason).toContain('Try: {"reason":"budget meeting"}');
  });

  it('WM2: an escalation keeps the fields we know, and only those', () => {
    const whole = escalation('e1', [asked(), asked({ default_answer: 'eu', fact_key: 'region' })]);
    expect(checkEscalation({ ...whole, extra: 1 })).toEqual(whole);
    const long = escalation('e1', [asked({ fact_key: 'x'.repeat(81) })]);
    expect(checkEscalation(long)).toEqual(escalation('e1', [asked()]));
    const planner = { ...whole, kind: 'waves_spent' as const, delegation_id: null, agent_id: null };
    expect(checkEscalation(planner)).toEqual(planner);
    expect(checkEscalation({ ...planner, wave: 0 })).toEqual({ ...planner, wave: 0 });
    const parked = { type: 'parked', from: 'run/wave-001', reason: 'No credit.' };
    expect(checkEscalation({ ...parked, extra: 1 })).toEqual(parked);
  });

  it('WM2: a verdict of the planner is taken as it is, and anything else as none', () => {
    const whole = escalation('e1', [asked(), asked(), asked()]);
    const verdict = { verdict: 'answered', answer: 'eu', source_refs: ['f1'], reason: 'So.' };
    const sent = [
      { ...verdict, extra: 1 },
      { ...verdict, source_refs: [3, 'goal', 'x'.repeat(201)], reason: 'y'.repeat(9_000) },
      { ...verdict, answer: 7 },
      verdict,
    ];
    expect(checkEscalation({ ...whole, verdicts: sent })).toEqual({
      ...whole,
      verdicts: [
        verdict,
        { ...verdict, source_refs: ['goal'], reason: expect.stringMatching(/^y{999}…$/) },
        null,
      ],
    });
    for (const none of [null, 'answered', {}, { ...verdict, verdict: 'maybe' }]) {
      expect(checkEscalation({ ...whole, verdicts: [none] })).toMatchObject({ verdicts: [null] });
    }
    expect(checkEscalation({ ...whole, verdicts: 'all' })).toEqual(whole);
  });

  it('WM2: what is no escalation of ours gives null', () => {
    const whole = escalation('e1', [asked()]);
    const wrong: readonly object[] = [
      { type: 'other' },
      { escalation_id: '' },
      { from: 3 },
      { kind: 'nosy' },
      { wave: 1.5 },
      { delegation_id: undefined },
      { questions: 'q' },
      { questions: [{}] },
      { questions: [{ ...asked(), priority: 'urgent' }] },
      { questions: [{ ...asked(), choices: [1] }] },
      { questions: [{ ...asked(), default_answer: 3 }] },
      { questions: Array(21).fill(asked()) },
    ];
    for (const change of wrong) expect(checkEscalation({ ...whole, ...change })).toBeNull();
    expect(checkEscalation({ type: 'parked', from: 'x' })).toBeNull();
  });

  it('WM2: a question that is too long is cut, because somebody waits for its answer', () => {
    const long = asked({ text: 'x'.repeat(9_000), default_answer: 'y'.repeat(9_000) });
    const read = checkEscalation(escalation('e1', [long]));
    if (read?.type !== 'questions') throw new Error('expected questions');
    expect(read.questions[0]?.text).toHaveLength(engineLimits.questionCharsMax);
    expect(read.questions[0]?.default_answer).toBeNull();
  });
});

/** Signals that the server takes for one execution. */
const serverMax = 10_000;

it('FL1: finding T4: a run begins another execution well before the server refuses signals', () => {
  expect(isFlooded(7_999, defaultLimits)).toBe(false);
  expect(isFlooded(8_000, defaultLimits)).toBe(true);
  expect(limitMaxima.max_signals).toBeLessThan(serverMax);
});

it('nothing is flooded before the input was read', () => {
  expect(isFlooded(20_000, null)).toBe(false);
});
