import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { RecordChange, RunRecord } from '../../../contracts/run-record.ts';
import { describeStale } from '../../../activities/stages/plan.ts';
import { useHarness } from './harness.ts';
import type { RunningRun } from './harness.ts';
import {
  answered,
  decision,
  delegation,
  outcome,
  output,
  plan,
  question,
  wave,
} from './samples.ts';

const harness = useHarness();

let run: RunningRun;
beforeEach(async () => {
  run = await harness.begin('my-run');
});

interface Played {
  readonly delegation: Delegation;
  readonly output?: Partial<AgentOutput>;
  readonly loaded?: readonly string[];
}

/** The end of a wave, whose packets were rendered from `shown`. */
async function endOf(
  at: number,
  played: readonly Played[],
  {
    shown = run.ref(),
    decided = {},
  }: { shown?: string; decided?: Parameters<typeof decision>[0] } = {},
): Promise<RecordChange> {
  const outcomes = await Promise.all(
    played.map(({ delegation: one, output: out = {}, loaded = [] }) =>
      outcome(harness, one, output({ compact_md: one.delegation_id, ...out }), {
        loaded_details: loaded,
      }),
    ),
  );
  return {
    type: 'wave_done',
    wave: wave(at, {
      plan_ref: await harness.put(plan(...played.map((one) => one.delegation))),
      record_ref: shown,
      outcomes,
      decision_ref: await harness.put(decision(decided)),
    }),
    criteria: [],
  };
}

const states = (key: string, value: string) => ({
  facts: [{ key, value, statement: `${key} is ${value}.`, confidence: 'high' as const }],
});

const assumes = (statement: string) => ({
  assumptions_made: [{ statement, confidence: 'low' as const }],
});

const staleIn = ({ stale }: RunRecord) =>
  stale.filter(({ redone_by }) => redone_by === null).map(({ delegation_id }) => delegation_id);

function resolving(conflict: string, origin: string, superseded: string) {
  const { planner_decision } = decision();
  const conflicts_resolved = [{ conflict, resolution: 'so it is', origin, superseded }];
  return { planner_decision: { ...planner_decision, conflicts_resolved } };
}

const price = delegation('price', { produces: ['prices'] });
const table = delegation('table', { depends_on: ['price'] });
const other = delegation('other');

it('RL4: who was shown a fact or got the output that stated it is stale when it is superseded, and what is built on it', async () => {
  await run.apply(
    await endOf(1, [
      { delegation: price, output: states('price', '10') },
      { delegation: table },
      { delegation: other, output: assumes('It is dry.') },
    ]),
  );
  expect((await run.record()).consumptions).toEqual([
    { delegation_id: 'price', wave: 1, question_ids: [], inputs: [] },
    {
      delegation_id: 'table',
      wave: 1,
      question_ids: [],
      inputs: [
        { name: 'price', source: 'wave-001/price' },
        { name: 'prices', source: 'wave-001/price' },
      ],
    },
    { delegation_id: 'other', wave: 1, question_ids: [], inputs: [] },
  ]);
  const loads = delegation('loads');
  const needs = delegation('needs', { required_inputs: ['prices'], provided_inputs: ['prices'] });
  await run.apply(
    await endOf(2, [
      { delegation: loads, loaded: ['table'] },
      { delegation: needs },
      { delegation: delegation('apart') },
    ]),
  );
  expect(staleIn(await run.record())).toEqual([]);
  expect((await run.record()).waves[1]?.shown).toEqual({
    fact_ids: ['f2'],
    question_ids: [],
    decision: 'wave-001/planner_decision',
  });
  const late = { delegation: delegation('late'), output: states('price', '12') };
  await run.apply(
    await endOf(3, [late], { decided: resolving('conflict:price', 'wave-003/late', 'f1') }),
  );
  // "loads" got the table, which got the price; "apart" was shown none of it.
  expect(staleIn(await run.record())).toEqual(['table', 'loads', 'needs']);
  const again = await endOf(4, [{ delegation: delegation('dry') }], {
    decided: resolving('Dry?', 'the user', 'f2'),
  });
  await run.apply(again, again);
  expect(staleIn(await run.record())).toEqual(['table', 'apart', 'loads', 'needs', 'late', 'dry']);
});

it('RL4: a wave that lost a conflict in itself leaves those stale who built on the loser', async () => {
  const rival = { delegation: other, output: states('price', '12') };
  const lost = resolving('conflict:price', 'wave-001/other', 'wave-001/price');
  await run.apply(
    await endOf(
      1,
      [{ delegation: price, output: states('price', '10') }, { delegation: table }, rival],
      { decided: lost },
    ),
  );
  expect(staleIn(await run.record())).toEqual(['table']);
});

it('RL4: a newer version of a product makes its consumers stale, but not who made it', async () => {
  await run.apply(await endOf(1, [{ delegation: price }, { delegation: table }]));
  const better = delegation('better', { produces: ['prices'], required_inputs: ['prices'] });
  const beside = delegation('beside', { required_inputs: ['prices'] });
  const after = delegation('after', { depends_on: ['better'], required_inputs: ['prices'] });
  await run.apply(
    await endOf(2, [{ delegation: better }, { delegation: beside }, { delegation: after }]),
  );
  expect(staleIn(await run.record())).toEqual(['table', 'beside']);
  expect((await run.record()).stale[0]?.reasons).toEqual([
    '"prices" of wave-001/price is replaced by wave-002/better',
  ]);
});

it('what is done again is stale no more, and the planner is told what it cost', async () => {
  await run.apply(await endOf(1, [{ delegation: price }, { delegation: table }]));
  await run.apply(await endOf(2, [{ delegation: delegation('better', { produces: ['prices'] }) }]));
  expect(describeStale(await run.record())).toEqual([
    {
      delegation_id: 'table',
      wave: 1,
      agent_id: 'researcher',
      title: 'Title of table',
      reasons: ['"prices" of wave-001/price is replaced by wave-002/better'],
      cost_last_time: '1 calls, 1.0k tokens in, 100 out, $0.002',
    },
  ]);
  const redone = delegation('table-again', { redoes: 'table' });
  const result = await run.apply(await endOf(3, [{ delegation: redone }]));
  expect(result.stale).toEqual([]);
  expect((await run.record()).stale).toMatchObject([
    { delegation_id: 'table', redone_by: 'table-again' },
  ]);
});

it('the report names work that rests on what no longer holds', async () => {
  await run.apply(await endOf(1, [{ delegation: price }, { delegation: table }]));
  await run.apply(await endOf(2, [{ delegation: delegation('better', { produces: ['prices'] }) }]));
  const { usage } = await run.record();
  const { result: files } = await run.apply({ type: 'ended', status: 'completed', usage });
  const result = await harness.deps.store.getText(files?.report_ref ?? '');
  expect(result).toContain(
    '## Work that rests on what no longer holds\n\n- `table`: "prices" of wave-001/price is replaced by wave-002/better',
  );
});

it('an own question, and what the packet showed, are kept with who got the answer', async () => {
  const own = question('q1', { delegation_id: 'price' });
  const shown = run.ref();
  await run.apply({ type: 'question_opened', question: own });
  await run.apply({
    type: 'question_answered',
    answered: answered('q1', { delegation_id: 'price' }),
    answer_ref: null,
  });
  await run.apply(await endOf(1, [{ delegation: price }], { shown }));
  await run.apply(await endOf(2, [{ delegation: other }]));
  const { consumptions, waves } = await run.record();
  expect(consumptions.map(({ question_ids }) => question_ids)).toEqual([['q1'], []]);
  expect(waves.map((one) => one.shown?.question_ids)).toEqual([[], ['q1']]);
});

const amends = (answer: string, at = 1_760_009_000, question_id = 'q1'): RecordChange => ({
  type: 'answer_amended',
  amended: { question_id, answer, answer_ref: null, hash: 'h' },
  amended_at: at,
});

describe('answer_amended', () => {
  const answers: readonly RecordChange[] = [
    { type: 'question_opened', question: question('q1', { delegation_id: 'price' }) },
    {
      type: 'question_answered',
      answered: answered('q1', { delegation_id: 'price' }),
      answer_ref: null,
    },
  ];

  it('RL4: whoever asked or was shown the answer is stale, and what is built on it', async () => {
    const shown = run.ref();
    await run.apply(...answers);
    await run.apply(
      await endOf(1, [{ delegation: price }, { delegation: table }, { delegation: other }], {
        shown,
      }),
    );
    await run.apply(amends('That.'));
    expect(staleIn(await run.record())).toEqual(['price', 'table']);
    expect((await run.record()).stale[0]?.reasons).toEqual(['the answer to q1 was changed']);
    // What comes later was shown the new answer.
    await run.apply(await endOf(2, [{ delegation: delegation('later') }]));
    await run.apply(amends('That.', 1_760_009_999));
    expect(staleIn(await run.record())).toEqual(['price', 'table']);
    await run.apply(amends('Those.', 1_760_009_999));
    expect(staleIn(await run.record())).toEqual(['price', 'table', 'later']);
  });

  it('RL4: an answer that is changed before the wave ends reached it as it was first', async () => {
    const shown = run.ref();
    await run.apply(...answers);
    await run.apply(amends('That.'));
    await run.apply(await endOf(1, [{ delegation: price }, { delegation: other }], { shown }));
    expect(staleIn(await run.record())).toEqual(['price']);
  });

  it('AA2: an assumption that the user confirms is a fact of the user, and nothing is stale', async () => {
    const assumed = { delegation_id: 'price', answered_by: 'planner-assumption' };
    await run.apply(
      { type: 'question_opened', question: question('q1', { delegation_id: 'price' }) },
      { type: 'question_answered', answered: answered('q1', assumed), answer_ref: null },
    );
    await run.apply(await endOf(1, [{ delegation: price }, { delegation: other }]));
    await run.apply(amends('This.'), amends('This.', 1_760_009_999));
    const { facts, answered_questions } = await run.record();
    expect(facts).toMatchObject([
      { is_assumption: true, superseded_by: 'f2' },
      { is_assumption: false, origin: 'user', superseded_by: null },
    ]);
    expect(answered_questions).toMatchObject([{ answered_by: 'user', answer: 'This.' }]);
    expect(staleIn(await run.record())).toEqual([]);
    await run.apply(amends('That.'));
    expect(staleIn(await run.record()).toSorted()).toEqual(['other', 'price']);
  });

  it('the pool keeps the first answer and says which holds; the same change twice is one', async () => {
    await run.apply(...answers, amends('That.'), amends('That.'), amends('This.', 1_760_009_001));
    const { facts, answered_questions } = await run.record();
    expect(facts.map(({ statement, superseded_by }) => [statement, superseded_by])).toEqual([
      ['What about q1? Answer: This.', 'f2'],
      ['What about q1? Answer: That.', 'f3'],
      ['What about q1? Answer: This.', null],
    ]);
    expect(facts[2]?.source_refs).toEqual(['q1', 'amended-1760009001']);
    expect(answered_questions).toMatchObject([{ answer: 'This.', amended_at: 1_760_009_001 }]);
    await run.apply(amends('x', 1_760_009_002, 'q9'));
    expect((await run.record()).facts).toHaveLength(3);
  });
});

it('judgeAnswers takes all answers or none, and stores long ones', async () => {
  await run.apply({ type: 'question_opened', question: question('q1') });
  await run.apply({ type: 'question_answered', answered: answered('q1'), answer_ref: null });
  const judge = (...answers: { question_id: string; answer: unknown }[]) =>
    harness.judgeAnswers({ record_ref: run.ref(), answers });
  const long = 'x'.repeat(1_500);
  const judged = await judge({ question_id: 'q1', answer: long });
  if (judged.type !== 'taken') throw new Error('expected it to be taken');
  expect(judged.answers[0]?.answer).toHaveLength(1_000);
  expect(await harness.deps.store.getText(judged.answers[0]?.answer_ref ?? '')).toBe(long);
  expect(
    await judge({ question_id: 'q1', answer: 'y' }, { question_id: 'q2', answer: 'y' }),
  ).toEqual({
    type: 'refused',
    reasons: ['there is no answered question "q2". Try: one of "q1"'],
  });
  // What a person answered already reopens nothing.
  expect(await judge({ question_id: 'q1', answer: 'This.' })).toEqual({
    type: 'taken',
    answers: [],
  });
});
