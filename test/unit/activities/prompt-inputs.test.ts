import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import { blockBytesMax } from '../../../activities/text/block-limits.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { Prompt } from '../../../contracts/model-turn.ts';
import type { DetailEntry, RunRecord } from '../../../contracts/run-record.ts';
import { markedData } from '../../support/marked-data.ts';
import { sayText } from '../../support/scripted-model.ts';
import { createBench, delegationOf, outputOf, plan, recordOf } from './bench.ts';
import { blockOf, jsonOf, renderParts } from './prompt-bench.ts';
import { leaderPrompt, setupOf } from './team-bench.ts';
import { briefOf, memberPrompt } from './triad-bench.ts';

/** Scene of a task and the results that it builds on. */

interface Scene {
  /** Changes to the delegation that the prompt is for. */
  readonly task?: Partial<Delegation>;
  /** detailed_md of the results of this wave, by delegation_id. */
  readonly fresh?: Readonly<Record<string, string>>;
  /** detailed_md of the results of earlier waves, each with the names that it is known by. */
  readonly earlier?: readonly { readonly names: readonly string[]; readonly text: string }[];
}

async function play({ task = {}, fresh = {}, earlier = [] }: Scene) {
  const bench = await createBench({ scripts: [sayText('')] });
  const put = (value: unknown): Promise<string> => bench.store.put(JSON.stringify(value));
  const putOutput = (name: string, detailed_md: string): Promise<string> =>
    put(outputOf({ compact_md: `SHORT-${name}`, detailed_md }));
  const upstream = await Promise.all(
    Object.entries(fresh).map(async ([delegation_id, text]) => ({
      delegation_id,
      output_ref: await putOutput(delegation_id, text),
    })),
  );
  const details = await Promise.all(
    earlier.map(async ({ names, text }) => {
      const output_ref = await putOutput(names[0] ?? '', text);
      return names.map((detail_id): DetailEntry => ({
        detail_id,
        title: `Task ${names[0]}`,
        summary: 'A summary.',
        tags: ['wave-1', 'writer', ...names.slice(1)],
        size: text.length,
        output_ref,
      }));
    }),
  );
  const planned = Object.keys(fresh).map((delegation_id) => delegationOf({ delegation_id }));
  const plan_ref = await put({ ...plan, delegations: [...planned, delegationOf(task)] });
  const record_ref = await put({ ...recordOf(bench.registry_ref), details: details.flat() });
  const where = { record_ref, plan_ref, delegation_id: 'write-report', upstream };
  const partsOf = (prompt: Prompt) => renderParts(bench, [{ type: 'prompt', prompt }]);
  return { bench, where, partsOf };
}

async function ownPart(scene: Scene): Promise<string> {
  const { where, partsOf } = await play(scene);
  const [, own = ''] = await partsOf({ kind: 'delegation', ...where });
  return own;
}

it('finding P1: what a task depends on comes whole, as data, and nothing says how to load it', async () => {
  const own = await ownPart({
    task: { depends_on: ['draft'] },
    fresh: { draft: '# Draft\n\nWHOLE-DRAFT' },
  });
  const results = blockOf(own, 'upstream_results');
  expect(results).toContain(
    '# Result of draft (report): Write the report, whole\n# Draft\n\nWHOLE-DRAFT',
  );
  expect(results).not.toContain('SHORT-draft');
  expect(own).not.toContain('load_detail {');
  expect(markedData(own).some(({ text }) => text.includes('WHOLE-DRAFT'))).toBe(true);
});

it('finding P1: a required input of an earlier wave comes whole, once, by whichever of its names', async () => {
  const own = await ownPart({
    task: { required_inputs: ['storage-design', 'design'] },
    earlier: [
      { names: ['design', 'storage-design'], text: 'WHOLE-DESIGN' },
      { names: ['other'], text: 'NOT-ASKED-FOR' },
    ],
  });
  expect(own.split('WHOLE-DESIGN')).toHaveLength(2);
  expect(own).not.toContain('NOT-ASKED-FOR');
  expect(own).not.toContain('Your task depends on no other');
});

it('finding P1: beyond the budget a result comes in short form with how to load the rest; a smaller one after it fits', async () => {
  const long = 'L'.repeat(blockBytesMax.direct_inputs);
  const own = await ownPart({
    task: { depends_on: ['first', 'long', 'last'] },
    fresh: { first: 'WHOLE-FIRST', long, last: 'WHOLE-LAST' },
  });
  expect(own).toContain('WHOLE-FIRST');
  expect(own).toContain('WHOLE-LAST');
  expect(own).not.toContain(long);
  expect(own).toContain(
    `, short form of ${long.length} bytes\nSHORT-long\n[All of it: load_detail {"detail_id":"long"}.]`,
  );
});

it('finding P1: what comes only because a dependency built on it stays short', async () => {
  const own = await ownPart({
    task: { depends_on: ['near'] },
    fresh: { far: 'WHOLE-FAR', near: 'WHOLE-NEAR' },
  });
  expect(own).toContain('WHOLE-NEAR');
  expect(own).not.toContain('WHOLE-FAR');
  expect(own).toContain('SHORT-far');
});

it('finding P1: a member of a triad and a leader get the same', async () => {
  const { bench, where, partsOf } = await play({
    task: { depends_on: ['draft'], required_inputs: ['design'] },
    fresh: { draft: 'WHOLE-DRAFT' },
    earlier: [{ names: ['design'], text: 'WHOLE-DESIGN' }],
  });
  const member = memberPrompt(bench, briefOf(), where);
  const leader = leaderPrompt(bench, { ...where, setup: setupOf() });
  for (const input of [member, leader]) {
    if (input.type !== 'prompt') throw new Error('no prompt');
    // oxlint-disable-next-line no-await-in-loop
    const [, own = ''] = await partsOf(input.prompt);
    expect(own).toContain('WHOLE-DRAFT');
    expect(own).toContain('WHOLE-DESIGN');
  }
});

it('LF6: of an unfinished task, neither prompt nor load_detail has files that are in no copy', async () => {
  const { bench, where, partsOf } = await play({
    task: { depends_on: ['draft'] },
    fresh: { draft: 'WHOLE-DRAFT' },
  });
  const { store } = bench;
  const arguments_ref = await store.put(JSON.stringify({ content: 'HALF-DONE' }));
  const file = { path: 'a.md', sha256: arguments_ref, bytes: 9, tool: 'write_file', arguments_ref };
  const upstream = where.upstream.map((one) => ({
    ...one,
    files: [file],
    unfinished: true as const,
  }));
  const shown = async (workspace: Pick<RunRecord, 'workspace_dir'>) => {
    const record = { ...recordOf(bench.registry_ref), ...workspace };
    const record_ref = await store.put(JSON.stringify(record));
    const prompt = { kind: 'delegation', ...where, upstream, record_ref } as const;
    const [, own = ''] = await partsOf(prompt);
    const loaded = await loadDetail.run(
      { detail_id: 'draft' },
      {
        store,
        run_id: 'my-run',
        delegation_id: 'write-report',
        builds_on: [],
        record_ref,
        upstream,
        signal: new AbortController().signal,
        listAddresses: () => Promise.resolve([]),
        loads_left: 1,
        onLoaded: () => {},
      },
    );
    return [blockOf(own, 'upstream_results'), loaded];
  };
  for (const text of await shown({})) expect(text).toContain('HALF-DONE');
  for (const text of await shown({ workspace_dir: '/work' })) {
    expect(text).toContain('WHOLE-DRAFT');
    expect(text).not.toContain('HALF-DONE');
  }
});

it('finding P6: a task has one list of inputs, and each detail stands in the index once', async () => {
  const { where, partsOf } = await play({
    task: { depends_on: ['draft'], required_inputs: ['design', 'draft'] },
    fresh: { draft: 'D' },
    earlier: [{ names: ['design', 'storage-design'], text: 'WHOLE-DESIGN' }],
  });
  const [shared = '', own = ''] = await partsOf({ kind: 'delegation', ...where });
  expect(Object.keys(Object(jsonOf(own, 'delegation')))).toEqual([
    'delegation_id',
    'title',
    'task_description',
    'acceptance_criteria',
    'required_inputs',
  ]);
  expect(jsonOf(shared, 'detail_index')).toEqual([
    {
      detail_id: 'design',
      also: ['storage-design'],
      title: 'Task design',
      summary: 'A summary.',
      tags: ['wave-1', 'writer'],
      size: 12,
    },
  ]);
  expect(`${shared}${own}`).not.toContain('<agents>');
});
