import type { MergeConflict } from '../../../contracts/effect.ts';
import { blockBytesMax } from '../../../activities/text/block-limits.ts';
import { renderTaskInstructions } from '../../../core/design/templates.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import { samplePlan } from '../../support/plans.ts';
import { outputOf, plan } from './bench.ts';
import { outcome, blockOf, createRun, jsonOf, render } from './prompt-bench.ts';

it('finding W1: a decision has the work itself, cut at a section with how to load the rest', async () => {
  const { bench, output_ref } = await createRun();
  const chapters = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${'word '.repeat(1_000)}`);
  const long = outputOf({ detailed_md: `# Long\n\n${chapters.join('\n\n')}` });
  const long_ref = await bench.store.put(JSON.stringify(long));
  const outcomes = [
    outcome({ output_ref }),
    outcome({ delegation_id: 'long', output_ref: long_ref }),
    outcome({ delegation_id: 'older', output_ref: long_ref }),
    outcome({ delegation_id: 'newer', output_ref, replaces: 'older' }),
  ];
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 1,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        outcomes,
        open_criteria: [],
        amendments: [],
      },
    },
  ]);
  const work = blockOf(text, 'work');
  expect(work).toContain('# Work of write-report\n\n# Report\n\nThree providers.');
  expect(work).toMatch(/\[Left out: .* more\..*All of it: load_detail \{"detail_id":"long"\}\.\]/);
  expect(work).not.toContain('# Work of older');
  expect(work).toContain('# Work of newer');
  expect(Buffer.byteLength(work)).toBeLessThan(blockBytesMax.work + 2_000);
  expect(Array.isArray(jsonOf(text, 'known_details'))).toBe(true);
});

it('finding W1: a decision has the text of each criterion; what was replaced neither counts nor contradicts', async () => {
  const { bench } = await createRun();
  const stating = (value: string) =>
    bench.store.put(
      JSON.stringify(
        outputOf({
          facts: [{ key: 'price', value, statement: `It costs ${value}.`, confidence: 'high' }],
        }),
      ),
    );
  const [older, newer, review] = await Promise.all(['10', '12', '12'].map(stating));
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 1,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        outcomes: [
          outcome({ delegation_id: 'older', output_ref: older ?? null }),
          outcome({ delegation_id: 'newer', output_ref: newer ?? null, replaces: 'older' }),
          outcome({ delegation_id: 'review', output_ref: review ?? null }),
        ],
        open_criteria: [],
        amendments: [],
      },
    },
  ]);
  expect(jsonOf(text, 'wave_plan')).toContainEqual(
    expect.objectContaining({
      acceptance_criteria: expect.arrayContaining([
        expect.objectContaining({ description: expect.stringMatching(/./) }),
      ]),
    }),
  );
  expect(jsonOf(text, 'conflicts')).toEqual([]);
  expect(jsonOf(text, 'outcomes')).toContainEqual({
    delegation_id: 'older',
    agent_id: null,
    status: 'completed',
    replaced: true,
  });
});

it('a decision names the changes of tasks that their team left out, and where they are kept', async () => {
  const { bench } = await createRun();
  const decide = (task_conflicts: readonly MergeConflict[]): Promise<string> => {
    const { record_ref, plan_ref } = bench;
    const none = { outcomes: [], open_criteria: [], amendments: [] };
    const prompt = { kind: 'decision', wave: 1, record_ref, plan_ref, ...none } as const;
    return render(bench, [{ type: 'prompt', prompt: { ...prompt, task_conflicts } }]);
  };
  const conflict = { delegation_id: 'pair.d2', with: ['pair.d1'], files: ['rate.js'] };
  expect(jsonOf(await decide([conflict]), 'left_changes')).toMatchObject([
    {
      delegation_id: 'pair.d2',
      files: ['rate.js'],
      reason: expect.stringContaining('"pair.d1" changed the same lines'),
      kept_in: 'worktrees/pair.d2',
    },
  ]);
  const many = Array.from({ length: 50 }, (_, i) => ({
    delegation_id: `pair.d${i}`,
    with: ['pair.d1'],
    files: Array.from({ length: 10 }, (_path, n) => `${'deep/'.repeat(39)}${n}`),
  }));
  const text = await decide(many);
  expect(Buffer.byteLength(blockOf(text, 'left_changes'))).toBeLessThan(
    blockBytesMax.left_changes + 500,
  );
  expect(text).toMatch(/left_changes is cut: the oldest \d+ of 50 entries are left out/);
  expect(await decide([])).not.toContain('<left_changes>');
  const cut = await decide([{ ...conflict, more: 3 }]);
  expect(cut).toContain('\n[3 more tasks of teams are left out and not listed.]');
  expect(blockOf(cut, 'left_changes')).not.toContain('"more"');
});

it('the planner of a designed run is told that the plan goes on, and reads no rules of the agents', async () => {
  const design = samplePlan();
  const [task] = design.tasks;
  if (task === undefined) throw new Error('the sample has tasks');
  const { bench } = await createRun();
  const record = await readRecord(bench.store, bench.record_ref);
  const decide = async (changes: object): Promise<string> =>
    render(bench, [
      {
        type: 'prompt',
        prompt: {
          kind: 'decision',
          wave: 1,
          record_ref: await bench.store.put(JSON.stringify({ ...record, ...changes })),
          plan_ref: await bench.store.put(
            JSON.stringify({
              ...plan,
              delegations: plan.delegations.map((one) => ({
                ...one,
                task_description: renderTaskInstructions(design, task),
              })),
            }),
          ),
          outcomes: [],
          open_criteria: [],
          amendments: [],
        },
      },
    ]);
  const designed = await decide({ design: { plan_refs: [] } });
  expect(designed).toContain('An approved plan is being carried out');
  expect(blockOf(designed, 'wave_plan')).toContain('## Evidence');
  expect(blockOf(designed, 'wave_plan')).not.toContain('MUST escalate');
  expect(await decide({})).not.toContain('An approved plan is being carried out');
});
