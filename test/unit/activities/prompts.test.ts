import type { Prompt } from '../../../contracts/model-turn.ts';
import { sayText } from '../../support/scripted-model.ts';
import { agents, createBench, decision, delegationOf, outputOf, plan } from './bench.ts';
import {
  outcome,
  blockOf,
  createRun,
  factOf,
  jsonOf,
  planPrompt,
  render,
  taskOf,
} from './prompt-bench.ts';

describe('a plan', () => {
  it('has every block, and the planner is not among its agents', async () => {
    const facts = [
      ...Array.from({ length: 120 }, (_, i) => factOf(i)),
      factOf(900, { superseded_by: 'f901' }),
    ];
    const { bench } = await createRun({
      facts,
      instructions: ['Be brief.'],
      criteria: [
        {
          criterion_id: 'c1',
          description: 'A report.',
          state: 'open',
          delegation_id: null,
          note: '',
        },
      ],
    });
    const text = await render(
      bench,
      planPrompt(bench, { amendments: ['Be brief.', 'No tables.'] }),
    );
    expect(text.startsWith('<request kind="plan" wave="2">')).toBe(true);
    expect(blockOf(text, 'goal').trim()).toBe('Compare three providers.');
    expect(jsonOf(text, 'constraints')).toEqual(['Only public sources.']);
    expect(jsonOf(text, 'instructions')).toEqual(['Be brief.', 'No tables.']);
    expect(jsonOf(text, 'agents')).toEqual([
      {
        agent_id: 'reviewer',
        description: 'Does the work of a reviewer.',
        capabilities: ['reviewer'],
        tools: [],
      },
      {
        agent_id: 'writer',
        description: 'Does the work of a writer.',
        capabilities: ['writer'],
        tools: ['load_detail'],
      },
    ]);
    expect(jsonOf(text, 'open_criteria')).toEqual([
      { criterion_id: 'c1', description: 'A report.' },
    ]);
    expect(jsonOf(text, 'known_inputs')).toEqual([{ name: 'goal' }]);
    expect(jsonOf(text, 'answered_questions')).toEqual([
      {
        question_id: 'q1',
        text: 'Which region?',
        answer: 'EU',
        answered_by: 'user',
        delegation_id: null,
      },
    ]);
    const shown = jsonOf(text, 'facts');
    expect(shown).toHaveLength(100);
    expect(shown).toMatchObject({ 0: { fact_id: 'f20' }, 99: { fact_id: 'f119' } });
    expect(blockOf(text, 'wave_compact').trim()).toBe(decision.wave_compact);
    expect(jsonOf(text, 'limits')).toEqual({ waves_left: 3, max_delegations: 7 });
  });

  it('names the models that members of triads may have, only where there may be triads', async () => {
    const { bench } = await createRun();
    const triad_models = ['big', 'small'];
    expect(jsonOf(await render(bench, planPrompt(bench, { triad_models })), 'triads')).toEqual({
      models: triad_models,
    });
    const without = await render(bench, planPrompt(bench, { triad_models: null }));
    expect(without).not.toContain('triad');
  });

  it('names the teams that there are, only where there may be teams', async () => {
    const desk = {
      team_id: 'desk',
      description: 'For news.',
      members: [{ id: 'writer' }, { id: 'reviewer', enabled: false }],
    };
    const scripts = [sayText('')];
    const bench = await createBench({
      scripts,
      teams: [
        desk,
        { team_id: 'tower', leader: 'writer', members: [{ id: 'd', team_id: 'desk' }] },
      ],
    });
    expect(jsonOf(await render(bench, planPrompt(bench, { teams: true })), 'teams')).toEqual([
      { team_id: 'desk', leader: 'reviewer', description: 'For news.', members: ['writer'] },
      { team_id: 'tower', leader: 'writer', description: '', members: ['d'] },
    ]);
    expect(await render(bench, planPrompt(bench, { teams: false }))).not.toContain('desk');
    const none = await createBench({ scripts });
    expect(jsonOf(await render(none, planPrompt(none, { teams: true })), 'teams')).toEqual([]);
  });

  it('finding C4: lists an agent that only leads where there may be teams, and nowhere else', async () => {
    const bench = await createBench({ scripts: [sayText('')] });
    const [planner, , writer] = agents;
    const leader = { ...writer, agent_id: 'leader', capabilities: ['leading', 'delegation'] };
    const registry = { agents: [planner, writer, leader], designers: [], teams: [] };
    const registry_ref = await bench.store.put(JSON.stringify(registry));
    const listed = async (teams: boolean): Promise<unknown> => {
      const prompt = planPrompt(bench, { teams, registry_ref });
      return jsonOf(await render(bench, prompt), 'agents');
    };
    expect(await listed(true)).toMatchObject([{ agent_id: 'writer' }, { agent_id: 'leader' }]);
    expect(await listed(false)).toMatchObject([{ agent_id: 'writer' }]);
  });

  it('says so when no wave was decided yet', async () => {
    const { bench } = await createRun({ waves: [] });
    expect(blockOf(await render(bench, planPrompt(bench)), 'wave_compact')).toContain('No wave');
  });
});

describe('a delegation', () => {
  const detail = {
    detail_id: 'research',
    title: 'Research',
    summary: 'Numbers.',
    tags: ['wave-1'],
    size: 12,
  };

  it('has the context packet of the concept, its four parts under their names', async () => {
    const assumption = factOf(1, { is_assumption: true });
    const { bench, output_ref } = await createRun({
      details: [{ ...detail, output_ref: '0'.repeat(64) }],
      facts: [assumption, factOf(2), factOf(3, { is_assumption: true, superseded_by: 'f4' })],
    });
    const twoStep: typeof plan = {
      ...plan,
      delegations: [
        delegationOf({ delegation_id: 'draft', title: 'Draft', produces: ['draft-text'] }),
        delegationOf(),
      ],
    };
    const plan_ref = await bench.store.put(JSON.stringify(twoStep));
    const text = await render(bench, [
      {
        type: 'prompt',
        prompt: {
          kind: 'delegation',
          record_ref: bench.record_ref,
          plan_ref,
          delegation_id: 'write-report',
          upstream: [{ delegation_id: 'draft', output_ref }],
        },
      },
    ]);
    expect(text.startsWith('<request kind="delegation">')).toBe(true);
    expect(jsonOf(text, 'delegation')).toEqual(taskOf(delegationOf()));
    const compact = blockOf(text, 'planner_compact_input');
    expect(compact).toContain('The report is there.');
    expect(blockOf(text, 'upstream_results')).toContain(
      '# Result of draft (draft-text): Draft, short form of 26 bytes\nThe report is written.',
    );
    expect(jsonOf(text, 'detail_index')).toEqual([detail]);
    expect(jsonOf(text, 'answered_questions')).toHaveLength(1);
    expect(jsonOf(text, 'active_assumptions')).toMatchObject([{ fact_id: 'f1' }]);
    expect(text).toContain('<role agent_id="writer">\nYou are a writer.\n</role>');
    expect(jsonOf(text, 'allowed_tools')).toEqual(['load_detail']);
    expect(text).not.toContain('Three providers.\n');
    expect(text).not.toContain('<agents>');
  });

  it('two delegations of a wave share all that is not their own, whoever does them', async () => {
    const { bench, output_ref } = await createRun();
    const both = {
      ...plan,
      delegations: [delegationOf(), delegationOf({ delegation_id: 'other', agent_id: 'reviewer' })],
    };
    const plan_ref = await bench.store.put(JSON.stringify(both));
    const { record_ref } = bench;
    const kind = 'delegation' as const;
    const upstream = [{ delegation_id: 'draft', output_ref }];
    const base = { kind, record_ref, plan_ref };
    const partsOf = async (agent_id: string, prompt: Extract<Prompt, { kind: 'delegation' }>) => {
      await bench.turn({ agent_id, append: [{ type: 'prompt', prompt }] });
      return bench.model.requests.at(-1)?.messages[0]?.content ?? [];
    };
    const one = await partsOf('writer', { ...base, delegation_id: 'write-report', upstream });
    const two = await partsOf('reviewer', { ...base, delegation_id: 'other', upstream: [] });
    expect(one[0]).toEqual(two[0]);
    expect(one[0]).toMatchObject({ cache_breakpoint: true });
    expect(JSON.stringify(one[0])).toContain('<detail_index>');
    expect(JSON.stringify(one[1])).toContain('<upstream_results>');
    expect(one[1]).not.toHaveProperty('cache_breakpoint');
  });
});

it('a review has the questions by number, and what can settle them with the names of sources', async () => {
  const { bench, output_ref } = await createRun({ facts: [factOf(1)] });
  const asked = {
    text: 'Which <region>?',
    why_it_matters: '',
    priority: 'high' as const,
    expected_answer_format: 'text' as const,
    choices: [],
    default_answer: null,
  };
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'question_review',
        wave: 2,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        delegation_id: 'write-report',
        questions: [asked],
        outputs: [{ delegation_id: 'market', output_ref }],
        amendments: ['Hurry.'],
      },
    },
  ]);
  expect(text.startsWith('<request kind="question_review" wave="2">')).toBe(true);
  expect(jsonOf(text, 'questions')).toEqual([{ question: 1, ...asked }]);
  expect(jsonOf(text, 'facts')).toMatchObject([{ fact_id: 'f1' }]);
  expect(jsonOf(text, 'answered_questions')).toMatchObject([{ question_id: 'q1' }]);
  expect(jsonOf(text, 'instructions')).toEqual(['Hurry.']);
  const documents = jsonOf(text, 'documents');
  expect(documents).toEqual(
    expect.arrayContaining([{ source_ref: 'market', compact_md: 'The report is written.' }]),
  );
  expect(jsonOf(text, 'delegation')).toMatchObject({ delegation_id: 'write-report' });
  expect(blockOf(text, 'wave_compact')).not.toBe('');
});

it('a decision has every outcome with its evidence', async () => {
  const { bench, output_ref } = await createRun();
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 1,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        outcomes: [
          outcome({ output_ref, criteria_met: ['c1'] }),
          outcome({
            delegation_id: 'gone',
            status: 'skipped',
            reason: 'no input',
            criteria_unmet: ['c9'],
          }),
        ],
        open_criteria: ['c1', 'c9'],
        amendments: ['Hurry.'],
      },
    },
  ]);
  expect(text.startsWith('<request kind="decision" wave="1">')).toBe(true);
  expect(jsonOf(text, 'outcomes')).toEqual([
    {
      delegation_id: 'write-report',
      agent_id: 'writer',
      status: 'completed',
      reason: '',
      criteria_met: [
        {
          criterion_id: 'c1',
          evidence: 'detailed_md, section "Report"',
          where: { kind: 'heading', value: 'Report' },
        },
      ],
      criteria_unmet: [],
      compact_md: 'The report is written.',
      assumptions_made: [],
      facts: [],
      optional_questions: [],
      missing_info_requests: [],
      effects_confirmed: [],
    },
    {
      delegation_id: 'gone',
      agent_id: null,
      status: 'skipped',
      reason: 'no input',
      criteria_met: [],
      criteria_unmet: [{ criterion_id: 'c9', reason: 'no input' }],
      compact_md: '',
      assumptions_made: [],
      facts: [],
      optional_questions: [],
      missing_info_requests: [],
      effects_confirmed: [],
    },
  ]);
  expect(jsonOf(text, 'open_criteria')).toEqual([
    { criterion_id: 'c1', description: 'The report names three providers.' },
    { criterion_id: 'c9', description: '' },
  ]);
  expect(jsonOf(text, 'instructions')).toEqual(['Hurry.']);
  for (const name of ['goal', 'constraints', 'answered_questions', 'wave_compact'])
    blockOf(text, name);
});

const stated = (key: string, value: string) => ({
  key,
  value,
  statement: `${key}: ${value}`,
  confidence: 'high' as const,
});

it('a decision has the standing facts, and the conflicts of the wave with them and in itself', async () => {
  const facts = [
    factOf(1),
    factOf(2, { key: 'price', value: '10' }),
    factOf(3, { key: 'price', value: '11', superseded_by: 'f2' }),
  ];
  const { bench } = await createRun({ facts });
  const refs = await Promise.all(
    [[stated('Price', '12'), stated('region', 'EU')], [stated('region', 'US')]].map((said) =>
      bench.store.put(JSON.stringify(outputOf({ facts: said }))),
    ),
  );
  const text = await render(bench, [
    {
      type: 'prompt',
      prompt: {
        kind: 'decision',
        wave: 2,
        record_ref: bench.record_ref,
        plan_ref: bench.plan_ref,
        outcomes: refs.map((output_ref, n) => outcome({ delegation_id: `d${n}`, output_ref })),
        open_criteria: [],
        amendments: [],
      },
    },
  ]);
  expect(jsonOf(text, 'facts')).toMatchObject([{ fact_id: 'f2', key: 'price', value: '10' }]);
  expect(jsonOf(text, 'conflicts')).toEqual([
    {
      conflict: 'conflict:price',
      sides: [
        { source: 'f2', value: '10', origin: 'agent' },
        { source: 'wave-002/d0', value: '12', origin: 'agent' },
      ],
      sides_left_out: 0,
    },
    {
      conflict: 'conflict:region',
      sides: [
        { source: 'wave-002/d0', value: 'EU', origin: 'agent' },
        { source: 'wave-002/d1', value: 'US', origin: 'agent' },
      ],
      sides_left_out: 0,
    },
  ]);
});
