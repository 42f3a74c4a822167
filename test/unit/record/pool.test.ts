import type { RecordChange } from '../../../contracts/run-record.ts';
import { engineLimits } from '../../../core/limits.ts';
import { answered, decision, delegation, outcome, output, wave } from './samples.ts';
import { useBegunRun } from './use-begun-run.ts';

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
      outcomes: first.outcomes,
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
