import { z } from 'zod';
import { blockBytesMax } from '../../../activities/text/block-limits.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { Prompt } from '../../../contracts/model-turn.ts';
import { engineLimits } from '../../../core/limits.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { markedData } from '../../support/marked-data.ts';
import { answers, claims, dialectic, specAfter } from '../core/triad-builders.ts';
import { delegationOf, outputOf, plan, recordOf, type Bench } from './bench.ts';
import { createRun, factOf, jsonOf, planPrompt, render } from './prompt-bench.ts';
import type { PhaseReport, TriadEnd } from '../../../contracts/triad-run.ts';

type Outcomes = Extract<Prompt, { kind: 'decision' }>['outcomes'];

/** The end of a triad in which ben holds against anna's claim on each section. */
async function disputedEnd(
  { store }: Bench,
  sections: readonly string[],
  { proposal = 'Only the list prices.', reason = 'Nobody pays them.' } = {},
): Promise<TriadEnd> {
  const [proposed, why] = await Promise.all([store.put(proposal), store.put(reason)]);
  const events = sections.flatMap((section) => [
    claims('anna', section, proposed),
    answers('ben', `${section}.anna`, 'HOLD', why),
    answers('carl', `${section}.anna`, 'CONCEDE', why),
  ]);
  const report: PhaseReport = {
    version: 1,
    type: 'dialectic',
    reason: 'Prices are disputed.',
    members: dialectic,
    phase: 'execute',
    attempt: 1,
    status: 'done',
    rounds: 1,
    rounds_max: 3,
    spec: specAfter(sections, [...events, { type: 'close' }]),
    turns: [],
    summary_ref: null,
    output_ref: null,
    failure: null,
    usage: noUsage,
  };
  return {
    type: 'dialectic',
    dissent_ref: await store.put(JSON.stringify(report)),
    failure: null,
  };
}

const outcomeOf = (delegation_id: string, end: TriadEnd, output_ref: string | null) => ({
  delegation_id,
  status: output_ref === null ? ('failed' as const) : ('completed' as const),
  reason: '',
  turns: 1,
  output_ref,
  criteria_met: [],
  criteria_unmet: [],
  executor_end: { kind: 'triad' as const, ...end },
});

const decide = (bench: Bench, outcomes: Outcomes): Promise<string> =>
  render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 2,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        outcomes,
        open_criteria: [],
        amendments: [],
      },
    },
  ]);

it('a decision has what a triad left disputed: as a conflict, and in the words of its members', async () => {
  const { bench, output_ref } = await createRun({
    facts: [factOf(1, { key: 'price', value: '1' }), factOf(2, { key: 'price', value: '2' })],
  });
  const end = await disputedEnd(bench, ['prices']);
  const text = await decide(bench, [outcomeOf('offer', end, output_ref)]);
  expect(jsonOf(text, 'conflicts')).toEqual([
    {
      conflict: 'conflict:triad/offer/prices',
      sides: [
        { source: 'wave-002/offer/anna', value: 'claim prices.anna', origin: 'agent' },
        { source: 'wave-002/offer/ben', value: 'HOLD prices.anna', origin: 'agent' },
      ],
      sides_left_out: 0,
    },
    expect.objectContaining({ conflict: 'conflict:price' }),
  ]);
  expect(jsonOf(text, 'minority_reports')).toEqual([
    {
      conflict: 'conflict:triad/offer/prices',
      claim_id: 'prices.anna',
      member: 'anna',
      about: 'ownership',
      proposal: 'Only the list prices.',
      positions: [{ member: 'ben', decision: 'HOLD', reason: 'Nobody pays them.' }],
    },
  ]);
  // Members are agents: their words stand where they can't pose as the engine's.
  const marked = markedData(text).map((one) => one.text);
  expect(marked.filter((one) => one.includes('Nobody pays them.'))).toHaveLength(1);
  expect(jsonOf(text, 'outcomes')).toMatchObject([{ triad: { type: 'dialectic' } }]);
});

it('a decision is not asked about the dispute of a result that was replaced: no check would take it', async () => {
  const { bench, output_ref } = await createRun();
  const end = await disputedEnd(bench, ['prices']);
  const newer = {
    ...outcomeOf('newer', { ...end, dissent_ref: null }, output_ref),
    replaces: 'd1',
  };
  const text = await decide(bench, [outcomeOf('d1', end, output_ref), newer]);
  expect(jsonOf(text, 'conflicts')).toEqual([]);
  expect(text).not.toContain('<minority_reports>');
});

it('a decision has the failure of a triad, and no minority reports where all agree', async () => {
  const { bench } = await createRun();
  const failure = { agent: 'ben', phase: 'negotiate', message: 'No reply.' } as const;
  const end: TriadEnd = { type: 'dialectic', dissent_ref: null, failure };
  const text = await decide(bench, [outcomeOf('offer', end, null)]);
  expect(jsonOf(text, 'outcomes')).toMatchObject([{ triad: { type: 'dialectic', failure } }]);
  expect(text).not.toContain('<minority_reports>');
});

const Conflicts = z.array(z.object({ conflict: z.string() }));
const Reports = z.array(z.object({ conflict: z.string(), proposal: z.string() }));

it('as many disputes as one decision resolves, with their words cut', async () => {
  const { bench } = await createRun();
  const { conflictsShownMax } = engineLimits;
  const words = { proposal: 'long line '.repeat(1_000), reason: 'so it is '.repeat(300) };
  const sections = Array.from({ length: 12 }, (_, n) => `s-${String(n).padStart(2, '0')}`);
  const ends = await Promise.all(['a', 'b'].map(() => disputedEnd(bench, sections, words)));
  const outcomes = ends.map((end, n) => outcomeOf('ab'.charAt(n), end, null));
  const text = await decide(bench, outcomes);
  const ids = Conflicts.parse(jsonOf(text, 'conflicts')).map(({ conflict }) => conflict);
  expect(ids).toHaveLength(conflictsShownMax);
  expect(ids).toEqual(ids.toSorted());
  expect(text).toContain('[4 more disputes of triads are told in their outputs only.]');
  const reports = Reports.parse(jsonOf(text, 'minority_reports'));
  // Every conflict that is asked for comes with its words.
  expect(reports.map(({ conflict }) => conflict)).toEqual(ids);
  for (const { proposal } of reports) {
    expect(proposal).toMatch(/\[Cut: \d+ of 10000 bytes are shown\.\]$/);
  }
  expect(Buffer.byteLength(JSON.stringify(reports))).toBeLessThan(blockBytesMax.minority_reports);
});

/**
 * Renders the prompt of whoever does a task, in a run in which the triad that did `offer` left something disputed.
 *
 * @param failed detailed_md of an output of that triad that failed its verification.
 */
async function doAgain(over: Partial<Delegation>, failed?: string): Promise<string> {
  const { bench } = await createRun();
  const put = (value: unknown): Promise<string> => bench.store.put(JSON.stringify(value));
  const end = await disputedEnd(bench, ['prices']);
  const work = {
    type: 'dialectic',
    phases: [{ phase: 'execute', report_ref: end.dissent_ref }],
    dissent: [{ section_id: 'prices', claim_id: 'prices.anna' }],
    failure: null,
  };
  const before = { delegation_id: 'offer', status: 'completed', executor: { kind: 'triad', work } };
  const waves = [{ wave: 1, decision_ref: null, outcomes: [before] }];
  const results = { task_id: 'x', timestamp: 1, result: 'fail', missing_evidence: ['Prices.'] };
  const feedback = failed !== undefined && {
    feedback: {
      results_ref: await put(results),
      output_ref: await put(outputOf({ detailed_md: failed })),
      instructions_ref: null,
      guidance_refs: [],
      executor_end: { kind: 'triad' as const, ...end },
    },
  };
  const prompt: Prompt = {
    kind: 'delegation',
    delegation_id: 'write-report',
    record_ref: await put({ ...recordOf(bench.registry_ref), waves }),
    plan_ref: await put({ ...plan, delegations: [delegationOf(over)] }),
    upstream: [],
    ...feedback,
  };
  return render(bench, [{ type: 'prompt', prompt }]);
}

it('whoever does a stale task once more has what the triad before could not settle', async () => {
  const text = await doAgain({ redoes: 'offer' });
  expect(jsonOf(text, 'minority_reports')).toMatchObject([
    { delegation_id: 'offer', member: 'anna', positions: [{ reason: 'Nobody pays them.' }] },
  ]);
  const marked = markedData(text).map((one) => one.text);
  expect(marked.filter((one) => one.includes('Nobody pays them.'))).toHaveLength(1);
  expect(await doAgain({})).not.toContain('<minority_reports>');
});

it('whoever mends the output of a triad has it too, unless the output that failed shows it', async () => {
  const text = await doAgain({}, 'Mended once.');
  expect(jsonOf(text, 'minority_reports')).toMatchObject([{ claim_id: 'prices.anna' }]);
  const shown = await doAgain({}, 'The offer.\n\n## Minority report\n\nAnna and Ben.');
  expect(shown).not.toContain('<minority_reports>');
});

/** Renders the next plan's prompt after a wave whose decision dropped the changes of these delegations. */
async function planAfter(dropped: readonly string[]): Promise<string> {
  const merge_conflicts = [{ delegation_id: 'till', with: ['shop'], files: ['a.js'] }];
  const found = dropped.length === 0 ? {} : { merge_conflicts, dropped };
  const rest = { planned_at: 1, done_at: 2, shown: null, usage: noUsage };
  const ended = { plan_ref: null, decision_ref: null, outcomes: [] };
  const waves = [{ wave: 1, status: 'decided' as const, ...ended, ...rest, ...found }];
  const { bench } = await createRun({ waves });
  return render(bench, planPrompt(bench));
}

it('the next plan is told which changes a merge left out', async () => {
  expect(jsonOf(await planAfter(['till']), 'left_changes')).toMatchObject([
    {
      delegation_id: 'till',
      wave: 1,
      files: ['a.js'],
      reason: expect.stringContaining('"shop" changed the same lines'),
    },
  ]);
  expect(await planAfter([])).not.toContain('<left_changes>');
});
