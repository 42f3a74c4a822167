import type { AnsweredQuestion } from '../../../contracts/question.ts';
import type { RecordChange, RunRecord } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { answered, decision, delegation, outcome, output, question, wave } from './samples.ts';
import { useBegunRun } from './use-begun-run.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';
import type { StatedFact } from '../../../contracts/agent-output.ts';

const { harness, apply } = useBegunRun();

const states = (key: string, value: string) => ({
  key,
  value,
  statement: `${key} is ${value}.`,
  confidence: 'high' as const,
});

/** The end of a wave in which `a` and `b` state a price each, and the planner a region. */
async function waveDone(): Promise<Extract<RecordChange, { type: 'wave_done' }>> {
  const made = decision({ facts: [states('Region', 'EU')] });
  const outputs = [
    output({
      facts: [states('Price', '10')],
      assumptions_made: [{ statement: 'It is dry.', confidence: 'low' }],
    }),
    output({ facts: [states('price', '12'), states('region', 'US')] }),
  ];
  const outcomes = await Promise.all(
    outputs.map((out, index) => outcome(harness, delegation('ab'.charAt(index)), out)),
  );
  const resolved = {
    conflict: 'conflict:price',
    resolution: 'b',
    origin: 'wave-001/b',
    superseded: 'wave-001/a',
  };
  const planner_decision = { ...made.planner_decision, conflicts_resolved: [resolved] };
  const decision_ref = await harness.put({ ...made, planner_decision });
  return { type: 'wave_done', wave: wave(1, { outcomes, decision_ref }), criteria: [] };
}

it('wave_done: what a wave and its decision state comes into the pool with its sources, and losers are marked', async () => {
  const done = await waveDone();
  const { facts } = await apply(done);
  const refs = done.wave.outcomes.map(({ output_ref }) => output_ref);
  expect(
    facts.map(({ key, value, source_refs, superseded_by }) => [
      key,
      value,
      source_refs,
      superseded_by,
    ]),
  ).toEqual([
    ['price', '10', ['wave-001/a', 'turn-1', refs[0]], 'f3'],
    [null, null, ['wave-001/a', 'turn-1', refs[0]], null],
    ['price', '12', ['wave-001/b', 'turn-1', refs[1]], null],
    ['region', 'US', ['wave-001/b', 'turn-1', refs[1]], 'f5'],
    ['region', 'EU', ['wave-001/planner_decision', done.wave.decision_ref], null],
  ]);
});

it('the same change twice leaves the pool that it leaves once', async () => {
  const done = await waveDone();
  const answer = { type: 'question_answered', answered: answered('q1'), answer_ref: null } as const;
  const instruction = { type: 'instruction', instruction: 'Be brief.' } as const;
  const once = await apply(done, answer, instruction);
  expect((await apply(done, answer, instruction, instruction, done, answer)).facts).toEqual(
    once.facts,
  );
});

const region = question('q1', { text: 'Which region?', fact_key: 'Hosting region' });

/** The question for the region, answered. */
function answers(answer: string, over: Partial<AnsweredQuestion> = {}): RecordChange[] {
  const told = answered('q1', { text: region.text, answer, ...over });
  return [
    { type: 'question_opened', question: region },
    { type: 'question_answered', answered: told, answer_ref: null },
  ];
}

/** The end of a wave in which `a` states a region, and maybe the planner too. */
async function wavesEnd(
  fact: StatedFact,
  decided: Partial<WaveDecision> = {},
): Promise<RecordChange> {
  const outcomes = [await outcome(harness, delegation('a'), output({ facts: [fact] }))];
  const decision_ref = await harness.put(decision(decided));
  return { type: 'wave_done', wave: wave(1, { outcomes, decision_ref }), criteria: [] };
}

const shown = ({ facts }: RunRecord) =>
  facts.map(({ key, value, origin, is_assumption, superseded_by }) => [
    key,
    value,
    origin,
    is_assumption,
    superseded_by,
  ]);

it("finding F6: an answer is a fact under its question's key, and no other value stands beside it", async () => {
  const done = await wavesEnd(states('hosting region', 'us-east'));
  expect(shown(await apply(...answers('eu-west'), done))).toEqual([
    ['hosting-region', 'eu-west', 'user', false, null],
    ['hosting-region', 'us-east', 'agent', false, 'f1'],
  ]);
  // Nor when it was stated before.
  expect(shown(await apply(done, ...answers('eu-west')))).toEqual([
    ['hosting-region', 'us-east', 'agent', false, 'f2'],
    ['hosting-region', 'eu-west', 'user', false, null],
  ]);
  const [long] = (await apply(...answers('x'.repeat(201)))).facts;
  expect(long).toMatchObject({ key: null, value: null });
});

const says = (value: string): RecordChange => ({
  type: 'instruction',
  instruction: `Host in ${value}.`,
  facts: [{ key: 'hosting region', value }],
});

it('finding F6: what the user settles by an instruction beats every earlier value, also when the user goes back to one', async () => {
  const record = await apply(...answers('eu-west'), says('asia'), says('eu-west'));
  expect(shown(record).filter(([key]) => key !== null)).toEqual([
    ['hosting-region', 'eu-west', 'user', false, 'f3'],
    ['hosting-region', 'asia', 'user', false, 'f5'],
    ['hosting-region', 'eu-west', 'user', false, null],
  ]);
});

it('finding F9: an assumption that agent and planner restate stays one until the user says it', async () => {
  const assumed = answers('eu-west', { answered_by: 'planner-assumption' });
  const fact = states('hosting region', 'EU-West');
  const done = await wavesEnd(fact, { facts: [fact] });
  const before = await apply(...assumed, done);
  expect(shown(before)).toEqual([
    ['hosting-region', 'eu-west', 'planner', true, null],
    ['hosting-region', 'EU-West', 'agent', true, null],
    ['hosting-region', 'EU-West', 'planner', true, null],
  ]);
  expect(
    shown(await apply(...assumed, done, says('eu-west')))
      .slice(0, 3)
      .map((one) => one[4]),
  ).toEqual(['f5', 'f5', 'f5']);
  const proven = await wavesEnd({ ...fact, settled_by: 'the contract, section 2' });
  expect(shown(await apply(...assumed, proven))).toEqual([
    ['hosting-region', 'eu-west', 'planner', true, 'f2'],
    ['hosting-region', 'EU-West', 'agent', false, null],
  ]);
  // What the run assumes for want of a default is no value.
  const [none] = (
    await apply(...answers('None given: take the most careful one.', { answered_by: 'assumption' }))
  ).facts;
  expect(none).toMatchObject({ key: null, is_assumption: true });
});

it('a wave that was not decided leaves its facts standing, for the next decision to see', async () => {
  const done = await waveDone();
  const { facts } = await apply({
    ...done,
    wave: { ...done.wave, status: 'abandoned', decision_ref: null },
  });
  expect(facts.map(({ superseded_by }) => superseded_by)).toEqual([null, null, null, null]);
});

it('the result of an update holds the newest facts only: it goes into history', async () => {
  const run = await harness.begin('my-run');
  const texts = Array.from({ length: engineLimits.factsCarriedMax + 5 }, (_, n) => `No. ${n}`);
  const result = await run.apply(
    ...texts.map((instruction): RecordChange => ({ type: 'instruction', instruction })),
  );
  expect(result.facts_total).toBe(texts.length);
  expect(result.facts_added.map(({ statement }) => statement)).toEqual(texts.slice(5));
});

it('reviewDecision holds a decision against the pool and the outputs of its wave', async () => {
  const run = await harness.begin('my-run');
  const { wave: first } = await waveDone();
  const review = async (decisionRef: string) => {
    const { faults } = await harness.reviewDecision({
      record_ref: run.ref(),
      wave: 1,
      outcomes: first.outcomes.map((one) => ({ ...one, executor_end: null })),
      decision_ref: decisionRef,
    });
    return faults.map(({ reason }) => reason);
  };
  expect(await review(first.decision_ref ?? '')).toEqual([
    expect.stringContaining(
      'conflict:region is not resolved: "EU" (planner) against "US" (wave-001/b)',
    ),
  ]);
  await run.apply({ type: 'wave_done', wave: first, criteria: [] });
  const later = decision({ wave_compact: 'price: 10', facts: [states('price', '14')] });
  expect(await review(await harness.put(later))).toEqual([
    expect.stringContaining('conflict:price is not resolved'),
    expect.stringContaining('conflict:region is not resolved'),
    expect.stringContaining('line 1 says "price: 10"'),
  ]);
});
