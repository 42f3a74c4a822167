import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { readEnd } from '../../../core/executor.ts';
import { useHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import { decision, delegation, met, outcome, output, plan, wave } from './samples.ts';
import { offer, offerOutcome, offerOutput, reportOf, summary } from './triad-samples.ts';
import type { Told } from './triad-samples.ts';

const harness = useHarness();
const alone = delegation('alone');

const triadFiles = async (): Promise<Record<string, string>> => {
  const tree = await readTree(join(harness.home, 'my-run'));
  return Object.fromEntries(Object.entries(tree).filter(([path]) => path.startsWith('triads/')));
};

/** A wave with one triad, whose `negotiate` took two attempts, and one agent alone. */
async function doneWave(
  told: Told = {},
  conflictsResolved: ReturnType<typeof decision>['planner_decision']['conflicts_resolved'] = [],
): Promise<Extract<RecordChange, { type: 'wave_done' }>> {
  const plan_ref = await harness.put(plan(offer, alone));
  const output_ref = await harness.put(offerOutput);
  const summary_ref = await harness.put(summary);
  const failure = { agent: 'ben', phase: 'negotiate', message: 'No reply.' } as const;
  const reports = await Promise.all([
    reportOf(harness, 'deliberate', told, { summary_ref }),
    reportOf(harness, 'negotiate', told, { status: 'failed', failure }),
    reportOf(harness, 'negotiate', told, { attempt: 2, summary_ref }),
    reportOf(harness, 'execute', told, { output_ref }),
  ]);
  const made = decision();
  const planner_decision = { ...made.planner_decision, conflicts_resolved: conflictsResolved };
  return {
    type: 'wave_done',
    wave: wave(1, {
      plan_ref,
      outcomes: [
        await offerOutcome(harness, plan_ref, reports),
        await outcome(harness, alone, output({ coverage: met('alone-1') })),
      ],
      decision_ref: await harness.put({ ...made, planner_decision }),
    }),
    criteria: [],
  };
}

it('export writes the files of every phase again, byte for byte, the newest attempt of each', async () => {
  const run = await harness.begin('my-run');
  await run.apply(await doneWave());
  const files = await triadFiles();
  expect(Object.keys(files)).toEqual([
    'triads/offer/deliberate.md',
    'triads/offer/execute.md',
    'triads/offer/negotiate.md',
  ]);
  expect(files['triads/offer/negotiate.md']).toContain('**Attempt:** 2.');
  await rm(join(harness.home, 'my-run'), { recursive: true });
  const exported = await exportRun(harness.deps, 'my-run');
  expect(exported.files).toBe(Object.keys(await readTree(join(harness.home, 'my-run'))).length);
  expect(await triadFiles()).toEqual(files);
});

it('a run whose id is used again loses the files of its triads', async () => {
  const run = await harness.begin('my-run');
  await run.apply(await doneWave());
  expect(Object.keys(await triadFiles())).toHaveLength(3);
  await harness.begin('my-run', { goal: 'Another goal' });
  expect(await triadFiles()).toEqual({});
});

/** The text of `result.md`, and the parts of `report.md`. */
async function endOf(
  done: RecordChange,
): Promise<{ readonly result: string; readonly report: readonly string[] }> {
  const run = await harness.begin('my-run');
  const { usage } = await run.record();
  const { result } = await run.apply(done, { type: 'ended', status: 'completed', usage });
  const textOf = (ref: string | undefined) => harness.deps.store.getText(ref ?? '');
  const report = await textOf(result?.report_ref);
  return { result: await textOf(result?.result_ref), report: report.split(/^(?=## )/m) };
}

it('report.md lists what triads left disputed, with what the planner made of it', async () => {
  const ruling = {
    conflict: 'conflict:triad/offer/prices',
    resolution: 'List prices are\nwhat we have.',
    origin: 'wave-001/offer/anna',
    superseded: 'wave-001/offer/ben',
  };
  const { result, report: parts } = await endOf(await doneWave({}, [ruling]));
  expect(parts.find((part) => part.startsWith('## Minority reports'))).toBe(
    [
      '## Minority reports\n',
      '### offer\n',
      '- `prices`: anna: claim prices.anna; ben: HOLD prices.anna. The planner let wave-001/offer/anna stand: List prices are what we have.',
      '- What each of them says: triads/offer/execute.md\n\n',
    ].join('\n'),
  );
  const text = parts.join('');
  expect(text).toContain(
    '*offer, by a dialectic triad (anna, ben, carl; 27 model calls, $0.054), written by writer: agents/writer/task_output/offer.md*',
  );
  expect(text).toContain('*alone, by researcher: agents/researcher/task_output/alone.md*');
  expect(text).toContain('- `triads/<delegation>/<phase>.md`: how each triad came to its output');
  // The output has the minority report itself.
  expect(result).toContain('**ben: HOLD.**');
});

it('report.md says so when nobody has decided a dispute, and nothing without one', async () => {
  const undecided = (await endOf(await doneWave())).report.join('');
  expect(undecided).toContain('HOLD prices.anna. It is undecided.');
  expect((await endOf(await doneWave({ agrees: true }))).report.join('')).not.toContain('inority');
});

it('reviewDecision asks for each dispute that the report of the last phase has', async () => {
  const run = await harness.begin('my-run');
  const { wave: done } = await doneWave();
  const executor = done.outcomes[0]?.executor;
  const triad = executor?.kind === 'triad' ? executor.work : null;
  const review = async (entries: Parameters<typeof doneWave>[1]) => {
    const made = decision();
    const planner_decision = { ...made.planner_decision, conflicts_resolved: entries ?? [] };
    const { faults } = await harness.reviewDecision({
      record_ref: run.ref(),
      wave: 1,
      outcomes: done.outcomes.map(({ delegation_id, status, turns, output_ref, executor: by }) => ({
        delegation_id,
        status,
        turns,
        output_ref,
        executor_end: readEnd(by),
      })),
      decision_ref: await harness.put({ ...made, planner_decision }),
    });
    return faults;
  };
  expect(executor === undefined ? null : readEnd(executor)).toMatchObject({
    dissent_ref: triad?.phases.at(-1)?.report_ref,
  });
  expect(await review([])).toMatchObject([
    { path: 'planner_decision.conflicts_resolved', hint: expect.stringMatching(/^Try: /) },
  ]);
  const ruling = {
    conflict: 'conflict:triad/offer/prices',
    resolution: 'Ben is right.',
    origin: 'wave-001/offer/ben',
    superseded: 'wave-001/offer/anna',
  };
  expect(await review([ruling])).toEqual([]);
});

it('result.md of a phase that was started alone is what it hands over', async () => {
  const plan_ref = await harness.put(plan(offer));
  const summary_ref = await harness.put(summary);
  const report = await reportOf(harness, 'negotiate', {}, { summary_ref });
  const ended = await offerOutcome(harness, plan_ref, [report]);
  const outcomes = [{ ...ended, output_ref: null, criteria_met: [], criteria_unmet: ['offer-1'] }];
  const { result, report: parts } = await endOf({
    type: 'wave_done',
    wave: wave(1, { plan_ref, outcomes, decision_ref: null }),
    criteria: [],
  });
  expect(result).toContain('Completed: negotiate, one phase of a triad.');
  expect(result).toContain('### Decisions\n\n- `risks`: Carl writes it');
  expect(parts.join('')).toContain('what was said: triads/offer/negotiate.md');
  expect(parts.join('')).not.toMatch(/## (?:Results|Criteria)/);
});
