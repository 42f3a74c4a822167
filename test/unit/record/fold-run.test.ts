import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import type { Adaptation } from '../../../contracts/adaptation.ts';
import { foldRun } from '../../../core/run/fold-run.ts';
import { exportRun } from '../../../activities/run-record/export-run.ts';
import { createFolder, createHarness, startedAt } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import { createSuspension } from '../../support/suspension.ts';
import { usage } from './samples.ts';
import { wholeRun, wholeRunInput } from './whole-run.ts';

it('keeps everything a run learns, in one record', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);

  const record = await run.record();
  expect(record).toMatchObject({
    revision: 9,
    phase: 'completed',
    status: 'completed',
    instructions: ['Leave out\ncloud services.'],
    started_at: startedAt,
    updated_at: startedAt + 9 * 60,
    usage: usage(6),
    open_questions: [],
  });
  expect(record.criteria).toEqual([
    {
      criterion_id: 'goal-1',
      description: 'Each way is rated for cost',
      state: 'met',
      delegation_id: 'research-again',
      note: 'Evidence for goal-1.',
    },
    {
      criterion_id: 'sources',
      description: 'Three sources are named',
      state: 'met',
      delegation_id: 'research-again',
      note: 'Evidence for sources.',
    },
    {
      criterion_id: 'draft-1',
      description: 'draft is done',
      state: 'waived',
      delegation_id: null,
      note: 'Waived by the user.',
    },
  ]);
  expect(record.details.map((entry) => [entry.detail_id, entry.tags])).toEqual([
    ['research', ['wave-001', 'researcher', 'report']],
    ['research-again', ['wave-002', 'researcher', 'report']],
    ['report', ['wave-002', 'researcher', 'report']],
  ]);
  expect(record.facts.map((fact) => [fact.fact_id, fact.origin, fact.superseded_by])).toEqual([
    ['f1', 'user', 'f2'],
    ['f2', 'user', null],
    ['f3', 'agent', null],
    ['f4', 'agent', 'f1'],
    ['f5', 'agent', null],
  ]);
  expect(record.waves.map((wave) => [wave.wave, wave.planned_at, wave.done_at])).toEqual([
    [1, startedAt + 120, startedAt + 360],
    [2, startedAt + 420, startedAt + 480],
  ]);
});

it('gives evidence the words of a changed plan where the user let it be reworded, and keeps the versions that led there', async () => {
  const evidence = [
    { criterion_id: 'fast', description: 'At most 900 ms.' },
    { criterion_id: 'goal-1', description: 'Each way has a rating.' },
  ];
  const met = { state: 'met', delegation_id: 'api', note: 'Seen.' } as const;
  const criteria = [
    { criterion_id: 'fast', description: 'At most 100 ms.', ...met },
    { criterion_id: 'goal-1', description: 'Each way is rated for cost', ...met },
  ];
  const run = await (await createHarness()).begin('my-run', wholeRunInput);
  const adaptation: Adaptation = {
    wave: 1,
    cause: { type: 'loop', task_id: 'api', root_cause: 'planning_gap' },
    plan_ref: 'v3',
    changed_tasks: ['api'],
    reworded_evidence: ['fast'],
    approved_by: 'q1',
  };
  const progress = { status: 'approved', materials: [], findings: [], approved_by: 'q1' } as const;
  const record = foldRun(
    { ...(await run.record()), criteria },
    {
      type: 'designed',
      at: startedAt,
      progress: { ...progress, plan_refs: ['v2', 'v3'], usage: usage(0) },
      adaptation,
      tasks: [{ delegation_id: 'api', acceptance_criteria: evidence }],
      plan_agents: null,
    },
  );
  expect(record.criteria).toEqual([
    { ...criteria[0], description: 'At most 900 ms.', state: 'open', note: '' },
    criteria[1],
  ]);
  expect(record.design?.adaptations).toEqual([{ ...adaptation, versions: 2 }]);
});

it('says after each update what the run knows and what is new', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const results = [];
  for (const changes of await wholeRun(harness)) results.push(await run.apply(...changes));

  expect(results.map((result) => result.facts_total)).toEqual([0, 0, 0, 0, 2, 4, 4, 5, 5]);
  expect(results.map((result) => result.facts_added.length)).toEqual([0, 0, 0, 0, 2, 2, 0, 1, 0]);
  expect(results.map((result) => result.known_inputs.slice(2))).toEqual([
    [],
    [],
    [],
    [],
    ['q1'],
    ['research', 'report', 'q1'],
    ['research', 'report', 'q1'],
    ['research', 'research-again', 'report', 'q1'],
    ['research', 'research-again', 'report', 'q1'],
  ]);
  expect(results[0]?.known_inputs.slice(0, 2)).toEqual(['goal', 'constraints']);
  expect(results.map(({ result }) => result?.result_path).slice(-2)).toEqual([
    undefined,
    'my-run/result.md',
  ]);
  const last = results.at(-1);
  expect(await harness.deps.store.getText(last?.result?.result_ref ?? '')).toContain(
    '# Result: Compare',
  );
});

it('has at every boundary the tree that an export builds from nothing, byte for byte', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const compare = async (): Promise<readonly string[]> => {
    const home = await createFolder();
    const exported = await exportRun(
      { ...harness.deps, projection: createFileProjection({ home }) },
      'my-run',
    );
    const projected = await readTree(join(harness.home, 'my-run'));
    expect(projected).toEqual(await readTree(join(home, 'my-run')));
    expect(exported).toEqual({ files: Object.keys(projected).length, root: 'my-run' });
    return Object.keys(projected);
  };

  expect(await compare()).toEqual([
    'conversation_summary_compare_ways_to_store_sensor_data.md',
    'pool.jsonl',
    'questions.jsonl',
    'shared_status.json',
  ]);
  for (const changes of await wholeRun(harness)) {
    await run.apply(...changes);
    await compare();
  }
  expect(await compare()).toEqual([
    'agents/researcher/task_output/research-again.md',
    'agents/researcher/task_output/research.md',
    'conversation_summary_compare_ways_to_store_sensor_data.md',
    'pool.jsonl',
    'questions.jsonl',
    'report.md',
    'result.md',
    'shared_status.json',
    'waves/001/planner_decision.json',
    'waves/001/wave_compact.md',
    'waves/001/wave_detailed.md',
    'waves/002/planner_decision.json',
    'waves/002/wave_compact.md',
    'waves/002/wave_detailed.md',
  ]);
});

it('rebuilds a tree that was deleted', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);
  const before = await readTree(join(harness.home, 'my-run'));
  await rm(join(harness.home, 'my-run'), { recursive: true });

  await exportRun(harness.deps, 'my-run');

  expect(await readTree(join(harness.home, 'my-run'))).toEqual(before);
});

it('gives the same references and files when an update is repeated', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const updates = await wholeRun(harness);
  for (const [index, changes] of updates.entries()) {
    const before = run.ref();
    const first = await run.apply(...changes);
    const tree = await readTree(harness.home);
    const second = await harness.updateRecord({
      run_id: 'my-run',
      record_ref: before,
      changes,
      now: startedAt + 60 * (index + 1),
    });
    expect(second).toEqual(first);
    expect(await readTree(harness.home)).toEqual(tree);
  }
});

it('writes the tree again when an attempt died before it was whole', async () => {
  const harness = await createHarness();
  const writes: string[] = [];
  const { projection } = harness.deps;
  let dies = false;
  const dying = await createHarness({
    store: harness.deps.store,
    index: harness.deps.index,
    projection: {
      ...projection,
      write: async (runId, path, text) => {
        if (dies && writes.length > 5) throw new Error('killed');
        writes.push(path);
        await projection.write(runId, path, text);
      },
    },
  });
  const run = await dying.begin('my-run', wholeRunInput);
  const [first = [], second = [], third = []] = await wholeRun(dying);
  dies = true;
  await run.apply(...first);
  await expect(run.apply(...second)).rejects.toThrow('killed');
  const { ref } = await harness.deps.index.read('my-run');
  expect(ref).toBe(run.ref());
  dies = false;
  await run.apply(...second);
  await run.apply(...third);

  const tree = await readTree(join(harness.home, 'my-run'));
  await exportRun(harness.deps, 'my-run');
  expect(await readTree(join(harness.home, 'my-run'))).toEqual(tree);
});

it('does not set a run back when an attempt comes late', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const begun = run.ref();
  const updates = await wholeRun(harness);
  for (const changes of updates) await run.apply(...changes);
  const tree = await readTree(harness.home);

  const late = await harness.updateRecord({
    run_id: 'my-run',
    record_ref: begun,
    changes: updates[0] ?? [],
    now: startedAt + 60,
  });
  await harness.begin('my-run', wholeRunInput);

  expect((await harness.record(late.record_ref)).revision).toBe(1);
  expect((await harness.deps.index.read('my-run')).ref).toBe(run.ref());
  expect(await readTree(harness.home)).toEqual(tree);
});

it.each(['projection', 'index'] as const)(
  'fault 5: an attempt that is suspended as it writes the %s, and overtaken, leaves record and tree of the later one',
  async (port) => {
    const harness = await createHarness();
    const run = await harness.begin('my-run', wholeRunInput);
    const begun = run.ref();
    const updates = await wholeRun(harness);
    const { reached, here, goOn } = createSuspension();
    const { index, projection } = harness.deps;
    const suspended = await createHarness({
      store: harness.deps.store,
      index: {
        ...index,
        write: async (...entry) => {
          if (port === 'index') await here();
          return index.write(...entry);
        },
      },
      projection: {
        ...projection,
        write: async (...file) => {
          if (port === 'projection') await here();
          await projection.write(...file);
        },
      },
    });
    const late = suspended.updateRecord({
      run_id: 'my-run',
      record_ref: begun,
      changes: updates[0] ?? [],
      now: startedAt + 60,
    });
    await reached;
    for (const changes of updates) await run.apply(...changes);
    const tree = await readTree(harness.home);
    const indexed = await index.read('my-run');

    goOn();

    expect((await harness.record((await late).record_ref)).revision).toBe(1);
    expect(await index.read('my-run')).toEqual(indexed);
    expect(await readTree(harness.home)).toEqual(tree);
  },
);

it('replaces index and tree when a workflow is reset to an earlier record', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  const begun = run.ref();
  for (const changes of await wholeRun(harness)) await run.apply(...changes);

  const reset = await harness.updateRecord({
    run_id: 'my-run',
    record_ref: begun,
    changes: [{ type: 'phase', phase: 'paused' }],
    now: startedAt + 5_000,
  });

  expect((await harness.deps.index.read('my-run')).ref).toBe(reset.record_ref);
  expect(Object.keys(await readTree(join(harness.home, 'my-run')))).toEqual([
    'conversation_summary_compare_ways_to_store_sensor_data.md',
    'pool.jsonl',
    'questions.jsonl',
    'shared_status.json',
  ]);
});

it('replaces the tree of an older run when its id is used again', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run', wholeRunInput);
  for (const changes of await wholeRun(harness)) await run.apply(...changes);

  await harness.begin('my-run', { goal: 'Something else' });

  expect(Object.keys(await readTree(join(harness.home, 'my-run')))).toEqual([
    'conversation_summary_something_else.md',
    'pool.jsonl',
    'questions.jsonl',
    'shared_status.json',
  ]);
});

it('names the known runs when an unknown one is exported', async () => {
  const harness = await createHarness();
  await expect(exportRun(harness.deps, 'my-run')).rejects.toThrow(
    'There is no run "my-run". No run is recorded here.',
  );
  await harness.begin('first');
  await harness.begin('second');
  await expect(exportRun(harness.deps, 'my-run')).rejects.toThrow(
    'There is no run "my-run". Known runs: "first", "second".',
  );
});

it('names the version of a record that it does not know', async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run');
  const newer = await harness.put({ ...(await run.record()), version: 7 });
  const { version } = await harness.deps.index.read('my-run');
  expect(await harness.deps.index.write('my-run', newer, version)).toBe(true);

  await expect(exportRun(harness.deps, 'my-run')).rejects.toThrow(
    `The run record ${newer} has version 7; this planwave reads 1.`,
  );
  await expect(
    harness.updateRecord({ run_id: 'my-run', record_ref: newer, changes: [], now: startedAt }),
  ).rejects.toMatchObject({ type: 'ArtifactCorrupt', nonRetryable: true });
});

it("refuses to add to another run's record", async () => {
  const harness = await createHarness();
  const run = await harness.begin('my-run');
  await expect(
    harness.updateRecord({ run_id: 'other', record_ref: run.ref(), changes: [], now: startedAt }),
  ).rejects.toThrow('belongs to the run "my-run", not to "other"');
});
