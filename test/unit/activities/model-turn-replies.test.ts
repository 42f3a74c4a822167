import { callTools, sayJson, sayText } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ModelTurnInput } from '../../../contracts/model-turn.ts';
import { agents, createBench, decision, delegationOf, outputOf, plan, written } from './bench.ts';
import { asked, outcome } from '../core/builders.ts';
import { factOf, planPrompt } from './prompt-bench.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { registryOf } from '../../support/registry-of.ts';
import type { WavePlan } from '../../../contracts/wave-plan.ts';

const say =
  (content: readonly ContentBlock[], stopReason: string): Script =>
  () => ({
    content,
    stopReason,
    tokens: null,
    requestId: null,
    model: 'rehearsal',
  });

/** Names of the tools that each turn offers, in a wave with these delegations. */
async function offeredIn(
  delegations: WavePlan['delegations'],
  turns: readonly Partial<ModelTurnInput>[],
): Promise<string[][]> {
  const bench = await createBench({ scripts: [sayText('')], plan: { ...plan, delegations } });
  // oxlint-disable-next-line no-await-in-loop
  for (const turn of turns) await bench.turn(turn);
  return bench.model.requests.map((request) => request.tools.map((tool) => tool.name));
}

/** Takes a review that answers from these sources. */
async function verdictFrom(...source_refs: string[]) {
  const review = { question: 1, verdict: 'answered', answer: 'eu', source_refs, reason: 'So.' };
  const bench = await createBench({
    scripts: [sayJson({ reviews: [review] })],
    record: {
      facts: [factOf(1, { is_assumption: true }), factOf(2), factOf(3, { superseded_by: 'f2' })],
    },
  });
  const prompt = {
    kind: 'question_review' as const,
    wave: 1,
    record_ref: bench.record_ref,
    plan_ref: bench.plan_ref,
    delegation_id: 'write-report',
    questions: [],
    outputs: [],
    assumed: ['q1'],
    amendments: [],
  };
  const append = [{ type: 'prompt' as const, prompt }];
  return (await bench.turn({ agent_id: 'planner', stage: 'question_review', append })).reply;
}

describe('a reply that came to its end', () => {
  it('gives the outline of an agent output and keeps its texts in the store', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    const { reply, usage, request_id, model } = await bench.turn();
    const { compact_md: _compact, detailed_md: _detailed, ...rest } = outputOf();
    const output_ref = await bench.store.put(JSON.stringify(outputOf()));
    expect(reply).toEqual({
      type: 'output',
      outline: { shape: 'agent_output', output: { ...rest, text_faults: [], output_ref } },
    });
    expect(usage).toMatchObject({ calls: 1, input_tokens: 100, output_tokens: 10 });
    expect([request_id, model]).toEqual(['req_1', 'rehearsal']);
  });

  it('gives the outline of a plan with criterion ids and a fingerprint per delegation', async () => {
    const bench = await createBench({ scripts: [sayJson(written(plan))] });
    const { reply } = await bench.turn({ agent_id: 'planner', stage: 'plan' });
    const { task_description: _task, acceptance_criteria: _criteria, ...rest } = delegationOf();
    expect(reply).toEqual({
      type: 'output',
      outline: {
        shape: 'wave_plan',
        plan: {
          ...plan,
          plan_ref: bench.plan_ref,
          delegations: [{ ...rest, criterion_ids: ['c1'], fingerprint: expect.any(String) }],
        },
      },
    });
  });

  it('gives the outline of a decision', async () => {
    const bench = await createBench({ scripts: [sayJson(decision)] });
    const { reply } = await bench.turn({ agent_id: 'planner', stage: 'decision' });
    const { planner_decision, criteria_reopened } = decision;
    expect(reply).toMatchObject({
      type: 'output',
      outline: { decision: { planner_decision, criteria_reopened, has_answer: true } },
    });
    // Texts stay in the store, the answer among them.
    expect(JSON.stringify(reply)).not.toContain('The report is there.');
  });

  it('takes off a fence around the whole, whatever the Markdown in it fences', async () => {
    const output = outputOf({ detailed_md: 'Code:\n```js\n1\n```\nend' });
    const fenced = `\n\`\`\`json\n${JSON.stringify(output, null, 2)}\n\`\`\`\n`;
    const bench = await createBench({ scripts: [sayText(fenced)] });
    expect((await bench.turn()).reply.type).toBe('output');
  });

  it('reads text that is split over blocks', async () => {
    const json = JSON.stringify(outputOf());
    const content = [json.slice(0, 40), json.slice(40)].map(
      (text) => ({ type: 'text', text }) as const,
    );
    const bench = await createBench({ scripts: [say(content, 'end_turn')] });
    expect((await bench.turn()).reply.type).toBe('output');
  });

  it('treats a stop sequence as an end: only whole JSON counts', async () => {
    const whole = await createBench({ scripts: [sayJson(outputOf(), 'stop_sequence')] });
    expect((await whole.turn()).reply.type).toBe('output');
    const cut = await createBench({ scripts: [sayText('{"compact_md":"a', 'stop_sequence')] });
    expect((await cut.turn()).reply.type).toBe('malformed');
  });
});

const manyCalls = (count: number, idLength: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: String(i).padStart(idLength, 't'),
    name: 'load_detail',
    input: i,
  }));

describe('tool calls', () => {
  it('stores the arguments and gives references', async () => {
    const input = { detail_id: 'x' };
    const bench = await createBench({
      scripts: [callTools([{ id: 't1', name: 'load_detail', input }])],
    });
    const { reply } = await bench.turn();
    const input_ref = await bench.store.put(JSON.stringify(input));
    expect(reply).toMatchObject({
      type: 'tools',
      calls: [{ tool_use_id: 't1', name: 'load_detail', input_ref }],
    });
  });

  it('are answered even when the stop reason says that the turn is over', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'load_detail', input: {} } as const;
    const bench = await createBench({ scripts: [say([call], 'end_turn')] });
    expect((await bench.turn()).reply.type).toBe('tools');
  });

  it('offers what the agents of the wave may call to each of them, and the planner nothing', async () => {
    const both = [delegationOf(), delegationOf({ delegation_id: 'check', agent_id: 'reviewer' })];
    const turns = [{}, { agent_id: 'reviewer' }, { agent_id: 'planner', stage: 'plan' }] as const;
    expect(await offeredIn(both, turns)).toEqual([['load_detail'], ['load_detail'], []]);
    const alone = [delegationOf({ agent_id: 'reviewer' })];
    expect(await offeredIn(alone, [{ agent_id: 'reviewer' }])).toEqual([[]]);
  });

  it('offers the same tools for as long as the conversation lasts', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    const { head } = await bench.turn();
    const registry_ref = await bench.store.put(
      registryOf(agents.map((agent) => ({ ...agent, allowed_tools: [] }))),
    );
    await bench.turn({ head, append: [], registry_ref });
    const offered = bench.model.requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(offered).toEqual([['load_detail'], ['load_detail']]);
  });

  it('part of fault 50: more calls than history should hold go back, and are not kept', async () => {
    const bench = await createBench({ scripts: [callTools(manyCalls(1_000, 4))] });
    const { head, reply, usage } = await bench.turn();
    expect(reply).toMatchObject({
      type: 'malformed',
      faults: [{ reason: expect.stringContaining('1000 tool calls at once, at most 100') }],
    });
    expect(usage.calls).toBe(1);
    expect((await bench.node(head)).messages.map(({ role }) => role)).toEqual(['user']);
  });

  it('part of fault 50: a result that is too large all the same is not retried, and its usage is told', async () => {
    const bench = await createBench({ scripts: [callTools(manyCalls(100, 2_000))] });
    await expect(bench.turn()).rejects.toMatchObject({
      type: 'ModelProtocol',
      nonRetryable: true,
      details: [{ usage: { calls: 1 } }],
    });
  });
});

describe('part of fault 24, M5: every other stop reason has its own path', () => {
  const text: ContentBlock = { type: 'text', text: '{"compact_md":"half' };
  const thinking: ContentBlock = { type: 'opaque', raw: { type: 'thinking' } };

  it.each([
    ['max_tokens', [text], { type: 'truncated' }],
    ['model_context_window_exceeded', [text], { type: 'context_exceeded' }],
    ['refusal', [], { type: 'refused', text: '' }],
    ['refusal', [{ type: 'text', text: 'No.' }], { type: 'refused', text: 'No.' }],
    ['end_turn', [], { type: 'empty' }],
    ['end_turn', [{ type: 'text', text: ' \n' }], { type: 'empty' }],
    ['end_turn', [thinking], { type: 'empty' }],
    ['pause_turn', [], { type: 'empty' }],
    ['sunspots', [text], { type: 'unknown_stop', stop_reason: 'sunspots' }],
  ] as const)('%s %j: the reply is not kept', async (stopReason, content, expected) => {
    const bench = await createBench({ scripts: [say(content, stopReason)] });
    const { head, reply } = await bench.turn();
    expect(reply).toEqual(expected);
    const node = await bench.node(head);
    expect(node.messages.map((message) => message.role)).toEqual(['user']);
    expect(node.awaiting).not.toBeNull();
  });

  it('pause_turn: the content goes back as it is', async () => {
    const bench = await createBench({ scripts: [say([text], 'pause_turn'), sayJson(outputOf())] });
    const { head, reply } = await bench.turn();
    expect(reply).toEqual({ type: 'paused' });
    await bench.turn({ head, append: [] });
    expect(bench.model.requests[1]?.messages.at(-1)).toEqual({
      role: 'assistant',
      content: [text],
    });
  });

  it('a truncated reply that would be whole JSON is not read', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf(), 'max_tokens')] });
    expect((await bench.turn()).reply).toEqual({ type: 'truncated' });
  });

  it("finding P10: the provider's explanation of a refusal is the reason", async () => {
    const refusal = 'This request could enable cyber harm.';
    const bench = await createBench({
      scripts: [async (...call) => ({ ...(await sayText('', 'refusal')(...call)), refusal })],
    });
    expect((await bench.turn()).reply).toEqual({ type: 'refused', text: refusal });
  });

  it('long refusals are cut', async () => {
    const bench = await createBench({ scripts: [sayText('no '.repeat(9_000), 'refusal')] });
    const { reply } = await bench.turn();
    expect(reply.type === 'refused' && reply.text.length).toBe(2_000);
  });
});

const turnWith = async (text: string) => {
  const bench = await createBench({ scripts: [sayText(text)] });
  const { reply, head } = await bench.turn();
  if (reply.type !== 'malformed') throw new Error(`expected faults, got ${reply.type}`);
  return { bench, head, faults: reply.faults };
};

describe('part of fault 27: a malformed output goes back with every fault at once', () => {
  it.each([
    ['prose before', `Here it is: ${JSON.stringify(outputOf())}`, 'not JSON alone'],
    ['prose after', `${JSON.stringify(outputOf())}\nHope it helps.`, 'text follows'],
    [
      'prose around a fence',
      `Sure.\n\`\`\`json\n${JSON.stringify(outputOf())}\n\`\`\``,
      'not JSON alone',
    ],
    ['a fence of another kind', `\`\`\`\n${JSON.stringify(outputOf())}\n\`\`\``, 'not JSON alone'],
    ['broken JSON', '{"compact_md": "a",}', 'broken'],
    ['truncated JSON', JSON.stringify(outputOf()).slice(0, 50), 'broken'],
  ])('%s', async (_what, text, reason) => {
    const { faults } = await turnWith(text);
    expect(faults).toEqual([
      { path: '$', reason: expect.stringContaining(reason), hint: expect.stringMatching(/^Try: /) },
    ]);
  });

  it('JSON of another shape: paths, reasons and hints, all of them', async () => {
    const output = {
      ...outputOf(),
      compact_md: '',
      status: 'done',
      detailed_md: undefined,
      extra: 1,
      optional_questions: 'none',
      coverage: { criteria_met: [{ criterion_id: 'c1' }], criteria_unmet: [] },
    };
    const { faults, bench, head } = await turnWith(JSON.stringify(output));
    expect(faults.map((fault) => fault.path).toSorted()).toEqual([
      '$',
      'compact_md',
      'coverage.criteria_met[0].evidence',
      'coverage.criteria_met[0].where',
      'detailed_md',
      'optional_questions',
      'status',
    ]);
    for (const fault of faults) expect(fault.hint).toMatch(/^Try: /);
    const node = await bench.node(head);
    expect(node.messages.map((message) => message.role)).toEqual(['user', 'assistant']);
  });

  it('an array, a string and null are faults too', async () => {
    for (const text of ['[]', '"completed"', 'null']) {
      // oxlint-disable-next-line no-await-in-loop
      const { faults } = await turnWith(text);
      expect(faults.length).toBeGreaterThan(0);
    }
  });

  it('lists at most 20, and says how many more there are', async () => {
    const criteria_met = Array.from({ length: 15 }, () => ({}));
    const coverage = { criteria_met, criteria_unmet: [] };
    const { faults } = await turnWith(JSON.stringify({ ...outputOf(), coverage }));
    expect(faults).toHaveLength(20);
    expect(faults.at(-1)?.reason).toMatch(/and \d+ more faults/);
  });

  it('O1: an output that failed asks no blocking question', async () => {
    const failed = outputOf({ status: 'failed', blocking_questions: [asked()] });
    const bench = await createBench({ scripts: [sayJson(failed)] });
    expect((await bench.turn()).reply).toMatchObject({
      outline: { output: { text_faults: [{ path: 'blocking_questions' }] } },
    });
  });

  it('QR8: a review takes no answer from an assumption of the record or of its wave', async () => {
    expect(await verdictFrom('f2')).toMatchObject({ type: 'output' });
    for (const ref of ['f1', 'f3', 'q1']) {
      expect(await verdictFrom(ref)).toMatchObject({
        type: 'malformed',
        faults: [{ path: 'reviews[0].source_refs' }],
      });
    }
  });

  it('a plan builds on no earlier result that leaves criteria open where its needs are to be met', async () => {
    const needing = delegationOf({ required_inputs: ['draft'], needs: 'met' });
    const c9 = { criterion_id: 'c9', description: 'It is fast.', note: '', delegation_id: null };
    const replyTo = async (state: 'open' | 'waived') => {
      const output_ref = 'a'.repeat(64);
      const draft = outcome('draft', { output_ref, criteria_unmet: ['c9'] });
      const wave = {
        wave: 1,
        status: 'decided' as const,
        plan_ref: null,
        outcomes: [draft],
        decision_ref: null,
        usage: noUsage,
        planned_at: 1,
        done_at: 2,
        shown: null,
      };
      const bench = await createBench({
        scripts: [sayJson(written({ ...plan, delegations: [needing] }))],
        record: {
          waves: [wave],
          criteria: [{ ...c9, state }],
          details: [
            { detail_id: 'draft', title: 'Draft', summary: '', tags: [], size: 1, output_ref },
          ],
        },
      });
      const append = planPrompt(bench);
      return (await bench.turn({ agent_id: 'planner', stage: 'plan', append })).reply;
    };
    expect(await replyTo('open')).toMatchObject({
      type: 'malformed',
      faults: [{ path: 'delegations[0].needs' }],
    });
    expect(await replyTo('waived')).toMatchObject({ type: 'output' });
  });

  it('a slug keeps the hint of its own', async () => {
    const bench = await createBench({
      scripts: [
        sayJson(written({ ...plan, delegations: [delegationOf({ delegation_id: 'No Slug' })] })),
      ],
    });
    const { reply } = await bench.turn({ agent_id: 'planner', stage: 'plan' });
    expect(reply).toMatchObject({
      faults: [{ path: 'delegations[0].delegation_id', hint: 'Try: "market-research"' }],
    });
  });

  it('part of fault 50: an outline over 64 KB goes back, names the largest field and leaves no artifact', async () => {
    const delegations = Array.from({ length: 60 }, (_, i) =>
      delegationOf({
        delegation_id: `d${i}`,
        required_inputs: Array.from({ length: 12 }, (_unused, j) => `${j}`.padEnd(110, 'x')),
      }),
    );
    const big = { ...plan, delegations };
    const bench = await createBench({ scripts: [sayJson(written(big))] });
    const { reply } = await bench.turn({ agent_id: 'planner', stage: 'plan' });
    expect(reply).toMatchObject({
      type: 'malformed',
      faults: [{ path: 'delegations', hint: expect.stringContaining('Try: shorten') }],
    });
    const stored = [...bench.store.artifacts.values()].map((bytes) =>
      Buffer.from(bytes).toString(),
    );
    expect(stored).not.toContain(JSON.stringify(big));
  });
});
