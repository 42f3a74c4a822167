import type { RunRecord } from '../../../contracts/run-record.ts';
import { decision, delegation, met, outcome, output, plan, unmet, usage, wave } from './samples.ts';
import { now, useBegunRun } from './use-begun-run.ts';

const { harness, apply } = useBegunRun();

it('wave_done: the usage of the run is the sum of its waves', async () => {
  const next = await apply(
    { type: 'wave_done', wave: wave(1, {}), criteria: [] },
    { type: 'wave_done', wave: wave(2, { usage: usage(4) }), criteria: [] },
  );
  expect(next.usage).toEqual(usage(7));
});

it('wave_done: a wave that never got a plan is kept all the same', async () => {
  const next = await apply({
    type: 'wave_done',
    wave: wave(1, { status: 'abandoned' }),
    criteria: [],
  });
  expect(next.waves).toMatchObject([{ status: 'abandoned', planned_at: null, done_at: now }]);
});

it('wave_done: which changes contradicted each other stays in the record', async () => {
  const merge_conflicts = [{ delegation_id: 'b', with: ['a'], files: ['a.js'] }];
  const next = await apply({
    type: 'wave_done',
    wave: wave(1, { merge_conflicts, task_conflicts: merge_conflicts }),
    criteria: [],
  });
  expect(next.waves).toMatchObject([{ merge_conflicts, task_conflicts: merge_conflicts }]);
});

describe('wave_done, notes of criteria', () => {
  const a = delegation('a', {
    acceptance_criteria: [
      { criterion_id: 'goal-1', description: 'other words' },
      { criterion_id: 'a-1', description: 'a is done' },
    ],
  });
  const finish = async (
    out: Parameters<typeof outcome>[2],
    states: Readonly<Record<string, 'met' | 'open' | 'waived'>>,
    over: Partial<Parameters<typeof decision>[0] & object> = {},
  ): Promise<Readonly<Record<string, string>>> => {
    const next = await apply({
      type: 'wave_done',
      wave: wave(1, {
        plan_ref: await harness.put(plan(a)),
        outcomes: [
          await outcome(
            harness,
            a,
            out,
            out === null ? { status: 'failed', reason: 'It fell.' } : {},
          ),
        ],
        decision_ref: await harness.put(decision(over)),
      }),
      criteria: Object.entries(states).map(([criterion_id, state]) => ({
        criterion_id,
        state,
        delegation_id: out === null ? null : 'a',
      })),
    });
    return Object.fromEntries(next.criteria.map((one) => [one.criterion_id, one.note]));
  };

  it('evidence when it is met', async () => {
    expect(
      await finish(output({ coverage: met('goal-1', 'a-1') }), { 'goal-1': 'met', 'a-1': 'met' }),
    ).toEqual({ 'goal-1': 'Evidence for goal-1.', 'a-1': 'Evidence for a-1.' });
  });

  it("the agent's reason when it is not", async () => {
    expect(
      await finish(output({ coverage: unmet('a-1') }), { 'goal-1': 'open', 'a-1': 'open' }),
    ).toEqual({ 'goal-1': '', 'a-1': 'No way to a-1.' });
  });

  it("the planner's reason when it reopened what an agent claimed", async () => {
    const criteria_reopened = [{ criterion_id: 'goal-1', reason: 'No price is named.' }];
    expect(
      await finish(
        output({ coverage: met('goal-1', 'a-1') }),
        { 'goal-1': 'open', 'a-1': 'met' },
        { criteria_reopened },
      ),
    ).toEqual({
      'goal-1': 'Reopened by the planner: No price is named.',
      'a-1': 'Evidence for a-1.',
    });
  });

  it('why the delegation failed when it gave no output', async () => {
    expect(await finish(null, { 'goal-1': 'open', 'a-1': 'open' })).toEqual({
      'goal-1': 'a: It fell.',
      'a-1': 'a: It fell.',
    });
  });

  it('the waiver when the user gave it up in the meantime', async () => {
    expect(await finish(null, { 'a-1': 'waived' })).toMatchObject({ 'a-1': 'Waived by the user.' });
  });
});

const finishWith = async (...produces: readonly (readonly string[])[]): Promise<RunRecord> => {
  const all = produces.map((names, index) => delegation(`d${index + 1}`, { produces: [...names] }));
  const outcomes = await Promise.all(
    all.map((one) =>
      outcome(
        harness,
        one,
        output({ compact_md: `Short\n${one.delegation_id}`, detailed_md: 'é' }),
      ),
    ),
  );
  const planRef = await harness.put(plan(...all));
  return apply({
    type: 'wave_done',
    wave: wave(1, { plan_ref: planRef, outcomes }),
    criteria: [],
  });
};

describe('wave_done, details', () => {
  it('one under the delegation_id, and one for each name it produces', async () => {
    const { details } = await finishWith(['report']);
    expect(details.map((one) => one.detail_id)).toEqual(['d1', 'report']);
    expect(details[1]).toMatchObject({
      title: 'Title of d1',
      summary: 'Short d1',
      tags: ['wave-001', 'researcher', 'report'],
      size: 2,
      output_ref: details[0]?.output_ref,
    });
  });

  it('no product takes the name of a delegation or of an input of the engine', async () => {
    const { details } = await finishWith([], ['d1', 'goal', 'constraints', 'q1', 'quotes']);
    expect(details.map((one) => [one.detail_id, one.title])).toEqual([
      ['d1', 'Title of d1'],
      ['d2', 'Title of d2'],
      ['quotes', 'Title of d2'],
    ]);
  });

  it('a name that is produced again stands for the newest', async () => {
    const { details } = await finishWith(['report'], ['report']);
    expect(details.map((one) => one.detail_id)).toEqual(['d1', 'd2', 'report']);
    expect(details[2]?.output_ref).toBe(details[1]?.output_ref);
  });
});

it('wave_done: what agents assumed becomes facts with their source', async () => {
  const a = delegation('a');
  const out = output({ assumptions_made: [{ statement: 'It is dry.', confidence: 'low' }] });
  const next = await apply({
    type: 'wave_done',
    wave: wave(1, { outcomes: [await outcome(harness, a, out)] }),
    criteria: [],
  });
  expect(next.facts).toMatchObject([
    {
      fact_id: 'f1',
      statement: 'It is dry.',
      source_refs: ['wave-001/a', 'turn-1', expect.stringMatching(/^[0-9a-f]{64}$/)],
      confidence: 'low',
      is_assumption: true,
      origin: 'agent',
    },
  ]);
});

/** Resolves facts and returns what supersedes f1, f2 (of agents), f3 and f4 (of the user). */
const resolve = async (
  ...conflicts: readonly (readonly [superseded: string, origin: string])[]
): Promise<readonly (string | null)[]> => {
  const assumed = output({
    assumptions_made: [
      { statement: 'a', confidence: 'low' },
      { statement: 'b', confidence: 'low' },
    ],
  });
  const ref = await harness.put(
    decision({
      planner_decision: {
        io_status: 'OK',
        not_ok_reasons: [],
        conflicts_resolved: conflicts.map(([superseded, origin]) => ({
          conflict: 'x',
          resolution: 'y',
          origin,
          superseded,
        })),
        next_actions: [],
      },
    }),
  );
  const next = await apply(
    {
      type: 'wave_done',
      wave: wave(1, { outcomes: [await outcome(harness, delegation('a'), assumed)] }),
      criteria: [],
    },
    { type: 'instruction', instruction: 'c' },
    { type: 'instruction', instruction: 'd' },
    { type: 'wave_done', wave: wave(2, { decision_ref: ref }), criteria: [] },
  );
  return next.facts.map((fact) => fact.superseded_by);
};

describe('wave_done, conflicts', () => {
  it('retire the fact that they name', async () => {
    expect(await resolve(['f1', 'f2'])).toEqual(['f2', null, null, null]);
    expect(await resolve([' f1 ', 'the writer'])).toEqual([
      'wave-002/planner_decision',
      null,
      null,
      null,
    ]);
  });

  it('retire nothing when they name no fact, or a fact as its own winner', async () => {
    expect(await resolve(['what f1 says', 'f2'], ['f2', 'f2'], ['f9', 'f1'])).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it("retire the user's words only for the user's words", async () => {
    expect(await resolve(['f3', 'f1'], ['f4', 'the writer'])).toEqual([null, null, null, null]);
    expect(await resolve(['f3', 'f4'])).toEqual([null, null, 'f4', null]);
  });
});
