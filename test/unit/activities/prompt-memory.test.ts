import { blockBytesMax } from '../../../activities/text/block-limits.ts';
import { countBytes } from '../../../activities/text/bytes.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { ReadingTool } from '../../../activities/tools/tool.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { DetailEntry, RunRecord, StoredWave } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { markedData } from '../../support/marked-data.ts';
import { sayText } from '../../support/scripted-model.ts';
import { createBench, decision, outputOf, recordOf } from './bench.ts';
import { answered, blockOf, factOf, jsonOf, planPrompt, render } from './prompt-bench.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

/** Outcome of a delegation in an earlier wave, as plans and agents read it. */

const ended = (id: string, changes: Partial<DelegationOutcome> = {}): DelegationOutcome => ({
  delegation_id: id,
  agent_id: 'writer',
  title: `Task ${id}`,
  status: 'completed',
  reason: '',
  criteria_met: [],
  criteria_unmet: [],
  produces: [],
  output_ref: null,
  loaded_details: [],
  turns: 1,
  usage: noUsage,
  executor: { kind: 'agent' },
  ...changes,
});

const waveOf = (wave: number, changes: Partial<StoredWave>): StoredWave => ({
  wave,
  status: 'decided',
  plan_ref: null,
  outcomes: [],
  decision_ref: null,
  usage: noUsage,
  planned_at: 1,
  done_at: 2,
  shown: null,
  ...changes,
});

const detailOf = (detail_id: string, output_ref: string): DetailEntry => ({
  detail_id,
  title: 'What hosting costs',
  summary: 'Prices of three providers.',
  tags: ['wave-1', 'writer'],
  size: 100,
  output_ref,
});

const notOk: WaveDecision = {
  ...decision,
  planner_decision: {
    io_status: 'NOT_OK',
    not_ok_reasons: ['NO-SOURCE-FOR-THE-PRICES'],
    conflicts_resolved: [],
    next_actions: ['LOOK-UP-THE-PRICE-LISTS'],
  },
};

/** A bench, and the record of a run in which one wave was decided as not enough. */
async function afterOneWave(missing: readonly string[] = []) {
  const bench = await createBench({ scripts: [sayText('')] });
  const put = (value: unknown): Promise<string> => bench.store.put(JSON.stringify(value));
  const output_ref = await put(
    outputOf({
      missing_info_requests: missing.map((input) => ({ input, why: `WITHOUT-${input}` })),
    }),
  );
  const outcomes = [
    ended('prices', { output_ref, criteria_met: ['named'], criteria_unmet: ['sourced'] }),
    ended('survey', { status: 'failed', reason: 'NOBODY-ANSWERED', criteria_unmet: ['asked'] }),
  ];
  const record: RunRecord = {
    ...recordOf(bench.registry_ref),
    waves: [waveOf(1, { outcomes, decision_ref: await put(notOk) })],
    criteria: [
      {
        criterion_id: 'sourced',
        description: 'Each price has a source.',
        state: 'open',
        delegation_id: 'prices',
        note: 'Reopened by the planner: THE-SOURCE-IS-A-BLOG',
      },
    ],
    details: [detailOf('prices', output_ref), detailOf('price-list', output_ref)],
    answered_questions: [answered],
  };
  const plan = async (changes: Partial<RunRecord> = {}, known: readonly string[] = []) => {
    const record_ref = await put({ ...record, ...changes });
    const open_criteria = ['sourced'];
    return render(bench, planPrompt(bench, { record_ref, open_criteria, known_inputs: known }));
  };
  return { bench, plan, output_ref, record };
}

it('finding F3: the next plan has what the last decision found missing and wanted done, and why a criterion is open', async () => {
  const { plan } = await afterOneWave();
  const text = await plan();
  expect(jsonOf(text, 'last_decision')).toEqual({
    wave: 1,
    io_status: 'NOT_OK',
    not_ok_reasons: ['NO-SOURCE-FOR-THE-PRICES'],
    next_actions: ['LOOK-UP-THE-PRICE-LISTS'],
  });
  expect(jsonOf(text, 'open_criteria')).toEqual([
    {
      criterion_id: 'sourced',
      description: 'Each price has a source.',
      why_open: 'Reopened by the planner: THE-SOURCE-IS-A-BLOG',
    },
  ]);
});

it('finding F3: the next plan has who tried what with which outcome, the newest first, as data of others', async () => {
  const { plan, record } = await afterOneWave();
  const [first] = record.waves;
  const text = await plan({
    waves: [...(first === undefined ? [] : [first]), waveOf(2, { outcomes: [ended('again')] })],
  });
  expect(jsonOf(text, 'tried')).toMatchObject([
    { delegation_id: 'again', wave: 2, status: 'completed' },
    {
      delegation_id: 'survey',
      wave: 1,
      agent_id: 'writer',
      title: 'Task survey',
      status: 'failed',
      reason: 'NOBODY-ANSWERED',
      criteria_unmet: ['asked'],
    },
    { delegation_id: 'prices', criteria_met: ['named'], criteria_unmet: ['sourced'] },
  ]);
  const marked = markedData(text).map((one) => one.text);
  for (const said of ['NOBODY-ANSWERED', 'THE-SOURCE-IS-A-BLOG']) {
    expect(marked.filter((one) => one.includes(said))).toHaveLength(1);
    expect(text.split(said)).toHaveLength(2);
  }
});

it('finding F3: a known input has its title, and stands there once under all its names', async () => {
  const { plan } = await afterOneWave();
  const text = await plan({}, ['goal', 'prices', 'price-list', 'q1', 'q2']);
  expect(jsonOf(text, 'known_inputs')).toEqual([
    { name: 'goal' },
    { name: 'q2' },
    { name: 'prices', also: ['price-list'], title: 'What hosting costs' },
    { name: 'q1', title: 'Which region?' },
  ]);
});

it('finding F3: what a plan is told of earlier waves is bounded, and the newest stays', async () => {
  const { plan } = await afterOneWave();
  const outcomes = Array.from({ length: 300 }, (_, n) =>
    ended(`d${n}`, { reason: 'r'.repeat(5_000), title: 't'.repeat(120) }),
  );
  const text = await plan({ waves: [waveOf(1, { outcomes })] });
  const tried = blockOf(text, 'tried');
  expect(countBytes(tried)).toBeLessThanOrEqual(blockBytesMax.tried + 2);
  expect(tried).toContain('"delegation_id":"d299"');
  expect(text).toContain('[tried is cut:');
});

it('finding F3: the first plan is told of no wave before', async () => {
  const bench = await createBench({ scripts: [sayText('')] });
  const text = await render(bench, planPrompt(bench));
  for (const block of ['last_decision', 'tried']) expect(text).not.toContain(`<${block}>`);
});

it('finding F4: the next plan has what an agent missed, until somebody supplies it', async () => {
  const { plan } = await afterOneWave(['price-sheet', 'terms']);
  expect(jsonOf(await plan(), 'tried')).toMatchObject([
    {},
    {
      delegation_id: 'prices',
      missing_info_requests: [
        { input: 'price-sheet', why: 'WITHOUT-price-sheet' },
        { input: 'terms', why: 'WITHOUT-terms' },
      ],
    },
  ]);
  const text = await plan({}, ['price-sheet']);
  expect(text).toContain('WITHOUT-terms');
  expect(text).not.toContain('WITHOUT-price-sheet');
});

it('finding F4: a decision has what an agent missed, with its outcome', async () => {
  const { bench, output_ref } = await afterOneWave(['price-sheet']);
  const { record_ref, plan_ref } = bench;
  const outcome = { ...ended('write-report', { output_ref }), output_ref, executor_end: null };
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 1,
        record_ref,
        plan_ref,
        outcomes: [outcome],
        open_criteria: [],
        amendments: [],
      },
    },
  ]);
  expect(jsonOf(text, 'outcomes')).toMatchObject([
    { missing_info_requests: [{ input: 'price-sheet', why: 'WITHOUT-price-sheet' }] },
  ]);
});

it('finding W2: the planner is told the tools of each agent, and what each tool does', async () => {
  const unused: ReadingTool = {
    ...loadDetail,
    spec: { ...loadDetail.spec, name: 'fetch_page', description: 'Nobody has it. Example: {}' },
  };
  const tools = createToolRegistry([loadDetail, unused]);
  const bench = await createBench({ scripts: [sayText('')], deps: { tools } });
  const text = await render(bench, planPrompt(bench));
  expect(jsonOf(text, 'agents')).toMatchObject([
    { agent_id: 'reviewer', tools: [] },
    { agent_id: 'writer', tools: ['load_detail'] },
  ]);
  expect(jsonOf(text, 'agent_tools')).toEqual([
    {
      tool: 'load_detail',
      does: 'Loads the full text of one earlier result, as Markdown, with the files that were written for it',
    },
  ]);
});

it('finding P6: a key stands in a prompt once, with its newest value and no hash among its sources', async () => {
  const hash = 'a'.repeat(64);
  const said = (n: number, value: string) =>
    factOf(n, { key: 'price', value, source_refs: ['wave-001/prices', 'turn-3', hash] });
  const facts = [said(1, '10'), factOf(2), said(3, '10'), factOf(4)];
  const bench = await createBench({ scripts: [sayText('')], record: { facts } });
  const text = await render(bench, planPrompt(bench));
  expect(jsonOf(text, 'facts')).toMatchObject([
    { fact_id: 'f2' },
    { fact_id: 'f3', key: 'price', value: '10', source_refs: ['wave-001/prices'] },
    { fact_id: 'f4' },
  ]);
  expect(text).not.toMatch(/[0-9a-f]{64}/u);
});
