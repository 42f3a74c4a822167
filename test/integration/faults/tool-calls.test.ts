import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitPages } from '../../../activities/text/bytes.ts';
import { detailPageBytes } from '../../../activities/tools/registry/load-detail.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { PlannerRunResult } from '../../../contracts/planner-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { Reply, ScriptedToolCall } from '../../../rehearsal/script.ts';
import { bodyOf, scriptedCalls } from '../../support/calls.ts';
import { unmarked } from '../../support/marked-data.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, completed, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const uses = (...tool_use: readonly ScriptedToolCall[]): Reply => ({ tool_use });
const load = (input: unknown): ScriptedToolCall => ({ name: 'load_detail', input });

interface ToolResult {
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error: boolean;
}

/** The tool results that a call of `last` gave back to the model. */
function resultsOf(nth: number): ToolResult[] {
  const call = callsOf(stage.rehearsal, 'last')[nth - 1];
  const content = bodyOf(call).messages.at(-1)?.content ?? [];
  const blocks: ({ type: string } & ToolResult)[] = JSON.parse(JSON.stringify(content));
  return blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({ ...block, content: unmarked(block.content) }));
}

/** A wave in which `last` can load what `first` wrote. */
async function runLast(
  replies: readonly Reply[],
  firstWrote = completed('first-done'),
): Promise<[WaveResult, string]> {
  stage.rehearsal.script([
    works('first', { json: firstWrote }),
    ...replies.map((reply, i) => works('last', reply, i + 1)),
    works('last', { json: completed('last-done') }),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'One task after the other',
    delegations: [
      work('first'),
      work('last', { required_inputs: ['first'], depends_on: ['first'] }),
    ],
  });
  const wave: WaveResult = await run.result();
  return [wave, run.workflowId];
}

function expectDone(wave: WaveResult, turns: number): void {
  expect(wave.outcomes.map((one) => [one.status, one.turns])).toEqual([
    ['completed', 1],
    ['completed', turns],
  ]);
  expect(wave.usage.calls).toBe(stage.rehearsal.counts().calls);
}

type BadRow = readonly [title: string, call: ScriptedToolCall, said: RegExp];

const badRows: readonly BadRow[] = [
  ['an id that is not in the index', load({ detail_id: 'secret' }), /no detail "secret".*"first"/],
  ['no id', load({}), /arguments of load_detail are not valid:.*detail_id: missing/s],
  ['a page that is no number', load({ detail_id: 'first', page: 'two' }), /page: .*number/],
  ['a page beyond the last', load({ detail_id: 'first', page: 7 }), /has 1 page\(s\), and 7 was/],
  ['an argument too many', load({ detail_id: 'first', all: true }), /do not belong here: "all"/],
  ['arguments that are no object', load('first'), /arguments of load_detail are not valid/],
  ['2 MB of arguments', load({ detail_id: 'x'.repeat(2_000_000) }), /detail_id: too much/],
  ['an unknown tool', { name: 'run_shell', input: {} }, /no tool "run_shell".*load_detail/],
  ['a tool without a name', { name: '', input: {} }, /no tool "" for you/],
  [
    'a tool whose name is a page of text',
    { name: `delete ${'all '.repeat(1_000)}\nfiles`, input: {} },
    /no tool "delete all/,
  ],
];

it('fault 47: bad calls are error results, each by its id, and the turn goes on with the good ones', async () => {
  const good = load({ detail_id: 'first' });
  const calls = [good, ...badRows.map(([, call]) => call), good];
  const [wave, id] = await runLast([uses(...calls)]);
  expectDone(wave, 2);
  expect(scriptedCalls(stage, 1)).toHaveLength(1);
  const results = resultsOf(2);
  const sent = bodyOf(callsOf(stage.rehearsal, 'last')[1]).messages.at(-2)?.content;
  expect(sent).toMatchObject(results.map((result) => ({ id: result.tool_use_id })));
  expect([results[0], results.at(-1)]).toMatchObject([{ is_error: false }, { is_error: false }]);
  for (const [i, [title, , said]] of badRows.entries()) {
    const result = results[i + 1];
    const { content = '', is_error } = result ?? {};
    expect({ title, is_error, isShort: content.length < 3_000 }).toEqual({
      title,
      is_error: true,
      isShort: true,
    });
    expect(content).toMatch(said);
  }
  await expectPromisesKept(stage, id);
});

it('fault 47: a detail of 1 MB comes in pages that together are the whole', async () => {
  const line = `${'What the first task found out. '.repeat(3)}\n`;
  const detailed_md = `# Long\n\n${line.repeat(11_000)}`;
  const pages = splitPages(detailed_md, detailPageBytes);
  const last = pages.length;
  const [wave, id] = await runLast(
    [1, 2, last, last + 1].map((page) => uses(load({ detail_id: 'first', page }))),
    { ...completed('first-done'), detailed_md },
  );
  expectDone(wave, 5);
  expect(scriptedCalls(stage, 1, 2, 3, 4)).toHaveLength(4);
  expect([2, 3, 4, 5].flatMap(resultsOf)).toMatchObject([
    {
      is_error: false,
      content: `${pages[0]}\n[Page 1 of ${last}. The next one: {"detail_id":"first","page":2}]`,
    },
    { is_error: false, content: expect.stringContaining(pages[1] ?? '') },
    { is_error: false, content: `${pages.at(-1)}\n[Page ${last} of ${last}: the end of "first".]` },
    { is_error: true, content: expect.stringContaining(`has ${last} page(s)`) },
  ]);
  await expectPromisesKept(stage, id);
});

it('fault 47: an agent without tools is offered none and gets none', async () => {
  const agentsDir = join(stage.home, 'my-agents');
  mkdirSync(agentsDir);
  writeFileSync(
    join(agentsDir, 'poet.md'),
    '---\nname: poet\ndescription: Writes poems about backups, without any tools.\n---\n\nYou write poems.\n',
  );
  stage.rehearsal.script([{ times: 1, reply: uses(load({ detail_id: 'goal' })) }]);
  const run = await stage.start('delegation', {
    agent_id: 'poet',
    task_description: 'Write a poem.',
    agents_dir: agentsDir,
  });
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 2 });
  expect(scriptedCalls(stage)).toHaveLength(1);
  const [first, second] = stage.rehearsal.calls().map(bodyOf);
  expect(first?.tools ?? []).toEqual([]);
  expect(JSON.stringify(second?.messages.at(-1))).toMatch(
    /There is no tool .*load_detail.* for you\. Try: go on without tools/,
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 47: an agent that only calls tools ends at max_turns', async () => {
  stage.rehearsal.script([{ reply: uses(load({ detail_id: 'more' })) }]);
  const run = await stage.start('delegation', {
    agent_id: 'writer',
    task_description: 'Write one page about backups.',
    limits: { max_turns: 5 },
  });
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'failed', turns: 5, usage: { calls: 5 } });
  expect(outcome.reason).toContain('The limit of 5 turns (max_turns) is reached.');
  expect(scriptedCalls(stage)).toHaveLength(5);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 47: a planner that calls a tool is told that it has none, and plans', async () => {
  stage.rehearsal.script([{ times: 1, reply: uses(load({ detail_id: 'goal' })) }]);
  const run = await stage.start('plannerRun', { goal: 'Anything', use_defaults: true });
  const result: PlannerRunResult = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed' });
  expect(scriptedCalls(stage)).toHaveLength(1);
  const [, again] = stage.rehearsal.calls();
  expect(JSON.stringify(again?.body)).toContain('you have none');
  await expectPromisesKept(stage, run.workflowId);
});
