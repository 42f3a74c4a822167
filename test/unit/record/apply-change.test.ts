import type { RecordChange } from '../../../contracts/run-record.ts';
import { answered, delegation, plan, question, usage, wave, wavePlanned } from './samples.ts';
import { now, useBegunRun } from './use-begun-run.ts';

const { harness, apply } = useBegunRun();

it('phase: takes it over and nothing else', async () => {
  const before = await apply();
  expect(await apply({ type: 'phase', phase: 'parked' })).toEqual({
    ...before,
    phase: 'parked',
    updated_at: now,
  });
});

it('question_opened: adds it once', async () => {
  const opened = { type: 'question_opened', question: question('q1') } as const;
  expect((await apply(opened, opened)).open_questions).toEqual([question('q1')]);
});

it('question_opened: shows one that changed as it stands now, in its place', async () => {
  const urged = question('q1', { reminded: 2, escalated_at: now });
  const next = await apply(
    { type: 'question_opened', question: question('q1') },
    { type: 'question_opened', question: question('q2') },
    { type: 'question_opened', question: urged },
  );
  expect(next.open_questions).toEqual([urged, question('q2')]);
});

it('question_answered: moves it to the answered ones, and the pool learns the answer', async () => {
  const next = await apply(
    { type: 'question_opened', question: question('q1') },
    { type: 'question_opened', question: question('q2') },
    { type: 'question_answered', answered: answered('q1'), answer_ref: null },
  );
  expect(next.open_questions.map((one) => one.question_id)).toEqual(['q2']);
  expect(next.answered_questions).toEqual([
    { ...answered('q1'), answer_ref: null, question: question('q1') },
  ]);
  expect(next.facts).toEqual([
    {
      fact_id: 'f1',
      key: null,
      value: null,
      statement: 'What about q1? Answer: This.',
      source_refs: ['q1'],
      confidence: 'high',
      is_assumption: false,
      origin: 'user',
      superseded_by: null,
      recorded_at: now,
    },
  ]);
});

it('question_answered: a long answer keeps its reference, in the fact too', async () => {
  const ref = 'a'.repeat(64);
  const next = await apply({
    type: 'question_answered',
    answered: answered('q1', { answer: 'Beginning…' }),
    answer_ref: ref,
  });
  expect(next.answered_questions[0]).toMatchObject({ answer_ref: ref, question: null });
  expect(next.facts[0]?.statement).toContain(`(whole answer: artifact ${ref})`);
});

it('question_answered: what the planner answers has its sources; what it lets assume is its assumption', async () => {
  const planners = answered('q1', { answered_by: 'planner', source_refs: ['f2', 'goal'] });
  const next = await apply(
    { type: 'question_answered', answered: planners, answer_ref: null },
    {
      type: 'question_answered',
      answered: answered('q2', { answered_by: 'planner-assumption', delegation_id: 'research' }),
      answer_ref: null,
    },
  );
  expect(next.facts).toMatchObject([
    {
      source_refs: ['q1', 'f2', 'goal'],
      is_assumption: false,
      confidence: 'medium',
      origin: 'planner',
    },
    { source_refs: ['q2'], is_assumption: true, confidence: 'low', origin: 'planner' },
  ]);
});

it('question_answered: a default that nobody confirmed is an assumption', async () => {
  const next = await apply(
    {
      type: 'question_answered',
      answered: answered('q1', { answered_by: 'default' }),
      answer_ref: null,
    },
    {
      type: 'question_answered',
      answered: answered('q2', { answered_by: 'assumption', delegation_id: 'research' }),
      answer_ref: null,
    },
  );
  expect(next.facts).toMatchObject([
    { is_assumption: true, confidence: 'low', origin: 'planner' },
    { is_assumption: true, confidence: 'low', origin: 'agent' },
  ]);
});

it('question_withdrawn: is open no more, and the pool learns nothing', async () => {
  const next = await apply(
    { type: 'question_opened', question: question('q1') },
    { type: 'question_opened', question: question('q2') },
    { type: 'question_withdrawn', question_id: 'q1' },
  );
  expect(next.open_questions.map(({ question_id }) => question_id)).toEqual(['q2']);
  expect(next).toMatchObject({ answered_questions: [], facts: [] });
});

it('answer_rejected: keeps the newest 200', async () => {
  const rejections = Array.from({ length: 203 }, (_, index): RecordChange => ({
    type: 'answer_rejected',
    rejected: { question_id: null, reason: `no ${index}`, example: null, rejected_at: now },
  }));
  const { rejected_answers } = await apply(...rejections);
  expect(rejected_answers).toHaveLength(200);
  expect(rejected_answers[0]?.reason).toBe('no 3');
});

it('instruction: kept word by word, and a fact of the user', async () => {
  const next = await apply({ type: 'instruction', instruction: 'Be brief.' });
  expect(next.instructions).toEqual(['Be brief.']);
  expect(next.facts).toMatchObject([
    { statement: 'Be brief.', source_refs: ['user'], origin: 'user', is_assumption: false },
  ]);
});

it('criteria_waived: unknown ids change nothing', async () => {
  const next = await apply({ type: 'criteria_waived', criterion_ids: ['goal-1', 'goal-9'] });
  expect(next.criteria).toMatchObject([{ criterion_id: 'goal-1', state: 'waived' }]);
});

it('wave_planned: a running wave, its criteria open, its usage counted', async () => {
  const made = plan(delegation('a'), delegation('b'));
  const ref = await harness.put(made);
  const next = await apply(wavePlanned(1, ref, made));
  const { record_ref: _shown, ...running } = wave(1, { status: 'running', plan_ref: ref });
  expect(next.waves).toEqual([
    {
      ...running,
      usage: usage(1),
      planned_at: now,
      done_at: null,
      shown: null,
      expected: { delegations: 2, tokens: 8_700 },
    },
  ]);
  expect(next.criteria.map((one) => [one.criterion_id, one.state, one.description])).toEqual([
    ['goal-1', 'open', 'It is cheap'],
    ['a-1', 'open', 'a is done'],
    ['b-1', 'open', 'b is done'],
  ]);
  expect(next.usage).toEqual(usage(1));
});

it('wave_planned: the criteria of a decision that answers questions are none of the run', async () => {
  const made = plan(delegation('a'), delegation('decision', { answers: 'a' }));
  const next = await apply(wavePlanned(1, await harness.put(made), made));
  expect(next.criteria.map((one) => one.criterion_id)).toEqual(['goal-1', 'a-1']);
});

it('ended: status, phase and the usage that the run reports', async () => {
  expect(await apply({ type: 'ended', status: 'stopped', usage: usage(9) })).toMatchObject({
    phase: 'stopped',
    status: 'stopped',
    usage: usage(9),
  });
});
