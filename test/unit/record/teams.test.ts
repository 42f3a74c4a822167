import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { treePaths } from '../../../activities/projection/paths.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { readEnd } from '../../../core/executor.ts';
import { readTree } from '../../support/read-tree.ts';
import { damageRecord } from '../../support/stored-records.ts';
import { startedAt, useHarness } from './harness.ts';
import { decision, output, plan, wave, wavePlanned } from './samples.ts';
import {
  design,
  designOutcome,
  designReport,
  storedTask,
  teamTask,
  triadTask,
} from './team-samples.ts';

const harness = useHarness();

const reportFiles = async (): Promise<Record<string, string>> => {
  const tree = await readTree(join(harness.home, 'my-run'));
  return Object.fromEntries(
    Object.entries(tree).filter(([path]) => /^t(?:eams|riads)\//.test(path)),
  );
};

type WaveDone = Extract<RecordChange, { type: 'wave_done' }>;
type Resolved = ReturnType<typeof decision>['planner_decision']['conflicts_resolved'];

/** A wave with one team, whose members are an agent, a triad, and a team that has a triad itself. */
async function doneWave(conflictsResolved: Resolved = []): Promise<WaveDone> {
  const report = await designReport(harness, [
    await storedTask(harness, 'd1', output()),
    await triadTask(harness, 'design.d2'),
    await teamTask(harness, 'design.d3'),
  ]);
  const made = decision();
  const planner_decision = { ...made.planner_decision, conflicts_resolved: conflictsResolved };
  return {
    type: 'wave_done',
    wave: wave(1, {
      plan_ref: await harness.put(plan(design)),
      outcomes: [await designOutcome(harness, report)],
      decision_ref: await harness.put({ ...made, planner_decision }),
    }),
    criteria: [],
  };
}

/** `report.md` of a run whose wave ended so, or `result.md`. */
async function reportOf(
  done: WaveDone,
  file: 'report_ref' | 'result_ref' = 'report_ref',
): Promise<string> {
  const run = await harness.begin('my-run');
  const { usage } = await run.record();
  const { result } = await run.apply(done, { type: 'ended', status: 'completed', usage });
  return harness.deps.store.getText(result?.[file] ?? '');
}

it('export writes the files of a team again, and those of teams and triads among its members', async () => {
  const run = await harness.begin('my-run');
  await run.apply(await doneWave());
  const files = await reportFiles();
  expect(Object.keys(files)).toEqual([
    'teams/design.d3.md',
    'teams/design.md',
    'triads/design.d2/execute.md',
    'triads/design.d3.d1/execute.md',
  ]);
  expect(files['teams/design.md']).toContain('**How the team came to it:** teams/design.d3.md');
  await rm(join(harness.home, 'my-run'), { recursive: true });
  const exported = await exportRun(harness.deps, 'my-run');
  expect(exported.files).toBe(Object.keys(await readTree(join(harness.home, 'my-run'))).length);
  expect(await reportFiles()).toEqual(files);
});

it('a run whose id is used again loses the files of its teams, also when a report is damaged', async () => {
  const run = await harness.begin('my-run');
  await run.apply(await doneWave());
  await harness.begin('my-run', { goal: 'Another goal' });
  expect(await reportFiles()).toEqual({});
  const again = await harness.begin('my-run', { goal: 'A third goal' });
  const done = await doneWave();
  await again.apply(done);
  const executor = done.wave.outcomes[0]?.executor;
  const ref = executor?.kind === 'team' ? (executor.work?.report_ref ?? '') : '';
  await damageRecord(harness.home, ref, 'lost');
  await harness.begin('my-run', { goal: 'A fourth goal' });
  expect(Object.keys(await reportFiles())).not.toContain('teams/design.md');
});

it('fault 5: a run that was reset has the files of its teams again when their wave is told again', async () => {
  const run = await harness.begin('my-run');
  const done = await doneWave();
  const beforeWave = run.ref();
  await run.apply(done);
  const files = await reportFiles();
  const update = { run_id: 'my-run', now: startedAt + 300 };
  const reset = await harness.updateRecord({
    ...update,
    record_ref: beforeWave,
    changes: [{ type: 'instruction', instruction: 'Use metric units' }],
  });
  expect(await reportFiles()).toEqual({});
  await harness.updateRecord({ ...update, record_ref: reset.record_ref, changes: [done] });
  expect(await reportFiles()).toEqual(files);
});

it('report.md says who did what, what each cost, and what their triads left disputed', async () => {
  const ruling = {
    conflict: 'conflict:triad/design.d3.d1/prices',
    resolution: 'List prices.',
    origin: 'wave-001/design.d3.d1/anna',
    superseded: 'wave-001/design.d3.d1/ben',
  };
  const text = await reportOf(await doneWave([ruling]));
  expect(text).toContain(
    '*design, by a team (researcher, sellers, testers; 62 model calls, $0.124), led by leader: agents/leader/task_output/design.md*',
  );
  expect(text).toContain(`## Teams

### design: Title of design

- completed
- Tasks: 3 completed
- Who did what, and what each brought: teams/design.md

| who | what it is | tasks | calls | cost | tokens |`);
  expect(text).toContain('| **all** |  | 3 | 62 | $0.124 | 62.0k tokens in, 6.2k out |');
  expect(text).toContain(
    '### design.d2\n\n- `prices`: anna: claim prices.anna; ben: HOLD prices.anna. It is undecided.\n- What each of them says: triads/design.d2/execute.md',
  );
  expect(text).toContain('The planner let wave-001/design.d3.d1/anna stand: List prices.');
  expect(text).toContain('- `teams/<delegation>.md`: who did what for each team');
});

it('result.md calls a team disputed only if a triad of it did not agree', async () => {
  const alone = await designReport(harness, [await storedTask(harness, 'd1', output())]);
  const agreed: WaveDone = {
    type: 'wave_done',
    wave: wave(1, {
      plan_ref: await harness.put(plan(design)),
      outcomes: [await designOutcome(harness, alone)],
    }),
    criteria: [],
  };
  expect(await reportOf(agreed, 'result_ref')).not.toContain('not agreed on');
  expect(await reportOf(await doneWave(), 'result_ref')).toContain(
    'not agreed on by all who worked on it: Title of design',
  );
});

it('report.md has what the members of a team brought that did not come to its end', async () => {
  const report = await designReport(harness, [await storedTask(harness, 'd1', output())], {
    status: 'timed_out',
    reason: 'Its 300 s are over.',
    output_ref: null,
  });
  const failed = { status: 'failed', reason: 'Its 300 s are over.' } as const;
  const text = await reportOf({
    type: 'wave_done',
    wave: wave(1, {
      plan_ref: await harness.put(plan(design)),
      outcomes: [await designOutcome(harness, report, failed)],
    }),
    criteria: [],
  });
  expect(text).toContain('## Results\n\nNo delegation was completed.');
  expect(text).toContain(
    '- failed: Its 300 s are over.\n- Tasks: 1 completed\n- Partial: it may hold less than was asked for\n',
  );
  expect(text).toContain('- `design.d1` by researcher: In short.');
});

it('status and summary name the members from the plan on, then what each did and cost', async () => {
  const run = await harness.begin('my-run');
  const done = await doneWave();
  const read = async () => {
    const tree = await readTree(join(harness.home, 'my-run'));
    const status: { agents: Record<string, object> } = JSON.parse(
      tree[treePaths.sharedStatus] ?? '',
    );
    const summary = Object.entries(tree).find(([path]) => path.startsWith('conversation_summary'));
    return { entry: status.agents['design'], summary: summary?.[1] };
  };
  await run.apply(wavePlanned(1, done.wave.plan_ref ?? '', plan(design)));
  const planned = await read();
  expect(planned.entry).toMatchObject({
    team: {
      team_id: null,
      members: [{ member_id: 'researcher' }, { member_id: 'sellers' }, { member_id: 'testers' }],
    },
  });
  expect(planned.summary).toContain(
    'Decision: design is done by a team: researcher, sellers, testers',
  );
  await run.apply(done);
  const over = await read();
  expect(over.entry).toMatchObject({
    team: {
      members: [{ member_id: 'researcher', tasks: 1, cost_micro_usd: 4_000 }, {}, {}],
      tasks: { completed: 3, failed: 0 },
      partial: false,
    },
  });
  expect(over.summary).toContain('researcher did 1 task for $0.004; sellers did 1 task for $0.054');
});

it('reviewDecision asks for each dispute of a triad among the members of a team, in any depth', async () => {
  const run = await harness.begin('my-run');
  const { wave: done } = await doneWave();
  const review = async (entries: Resolved) => {
    const made = decision();
    const { faults } = await harness.reviewDecision({
      record_ref: run.ref(),
      wave: 1,
      outcomes: done.outcomes.map((outcome) => ({
        delegation_id: outcome.delegation_id,
        status: outcome.status,
        turns: outcome.turns,
        output_ref: outcome.output_ref,
        executor_end: readEnd(outcome.executor),
      })),
      decision_ref: await harness.put({
        ...made,
        planner_decision: { ...made.planner_decision, conflicts_resolved: entries },
      }),
    });
    return faults;
  };
  const rulings = ['design.d2', 'design.d3.d1'].map((id) => ({
    conflict: `conflict:triad/${id}/prices`,
    resolution: 'Ben is right.',
    origin: `wave-001/${id}/ben`,
    superseded: `wave-001/${id}/anna`,
  }));
  expect(await review([])).toHaveLength(2);
  expect(await review(rulings.slice(0, 1))).toHaveLength(1);
  expect(await review(rulings)).toEqual([]);
});

it('a path is made of slugs and points alone', () => {
  expect(treePaths.team('design.d2.d1')).toBe('teams/design.d2.d1.md');
  for (const id of ['..', 'a..b', '.a', 'a.', 'a/b', 'A.b', '../x']) {
    expect(() => treePaths.team(id)).toThrow('no slug');
    expect(() => treePaths.triadPhase(id, 'execute')).toThrow('no slug');
  }
});
