import { toTool } from '../../../activities/adapters/anthropic/json-schemas.ts';
import { redactModel } from '../../../activities/redaction/redact-model.ts';
import { redactStore } from '../../../activities/redaction/redact-ports.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import {
  createToolRegistry,
  stateTools,
} from '../../../activities/tools/registry/create-registry.ts';
import { offerStateTools } from '../../../activities/tools/tool.ts';
import type { StateToolCall, ToolCall } from '../../../contracts/model-turn.ts';
import type { StateToolName } from '../../../contracts/state-call.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { planted, plantedPieces } from '../../support/planted.ts';
import { callTools, createScriptedModel } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { createBench } from './bench.ts';
import type { Bench } from './bench.ts';
import { briefOf, memberPrompt, triadPlan } from './triad-bench.ts';

const names = Object.values(stateTools).map((tool) => tool.name);

/** Reads arguments by a tool. Returns the result and the store with its texts. */
async function read(name: StateToolName, input: unknown) {
  const store = createMemoryStore();
  return { store, read: await stateTools[name].read(input, store) };
}

async function faultsOf(name: StateToolName, input: unknown): Promise<string[]> {
  const { store, read: found } = await read(name, input);
  if (found.ok) throw new Error('the arguments were taken');
  expect(found.tool).toBe(name);
  expect(store.artifacts.size).toBe(0);
  return found.faults.map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}`);
}

/** The calls of one reply of a member that is offered these tools. */
async function settle(
  bench: Bench,
  tools: readonly StateToolName[] | undefined,
): Promise<readonly (ToolCall | StateToolCall)[]> {
  const { reply } = await bench.turn({
    stage: 'member',
    append: [memberPrompt(bench, briefOf())],
    ...(tools !== undefined && { state_tools: tools }),
  });
  if (reply.type !== 'tools') throw new Error(JSON.stringify(reply));
  return reply.calls;
}

const benchThatCalls = (...calls: readonly { id: string; name: string; input: unknown }[]) =>
  createBench({ scripts: [callTools(calls)], plan: triadPlan });

const claim = { section_id: 'keys', proposal: 'A key of device and time.' };

describe('what the model is told of a state tool', () => {
  it.each(names)(
    '%s: its description ends with one example that its own schema takes',
    async (name) => {
      const { description } = stateTools[name].spec;
      const [, example, ...more] = description.split('Example: ');
      expect(more).toEqual([]);
      const { read: found } = await read(name, JSON.parse(example ?? ''));
      expect(found).toMatchObject({ ok: true, call: { tool: name } });
    },
  );

  it.each(names)('%s: the API takes its schema, which allows no other field', (name) => {
    expect(stateTools[name].spec.name).toBe(name);
    expect(toTool(stateTools[name].spec)).toMatchObject({
      input_schema: { type: 'object', additionalProperties: false },
    });
  });

  it('no parameter holds the spec: a call names sections and claims by their ids', () => {
    const fields = names.flatMap((name) =>
      Object.keys(Object(toTool(stateTools[name].spec).input_schema.properties)),
    );
    expect(fields.filter((field) => /spec|state|claims$/.test(field))).toEqual([]);
  });

  it('tools are offered in one order, whatever the order of their names', () => {
    const shuffled = ['submit_summary', 'register_claim', 'edit_section'] as const;
    const offered = offerStateTools(createToolRegistry([]), shuffled);
    expect(offered.map(({ spec }) => spec.name)).toEqual([
      'register_claim',
      'edit_section',
      'submit_summary',
    ]);
  });
});

describe('a call that fits has its texts in the store and the rest in place', () => {
  it.each([
    [
      'register_claim',
      claim,
      { section_id: 'keys', for_member: null },
      { proposal_ref: claim.proposal },
    ],
    ['register_claim', { ...claim, for_member: 'bob' }, { for_member: 'bob' }, {}],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'HOLD', reason: ' No. ', revised_proposal: null },
      { claim_id: 'c1', decision: 'HOLD', revised_ref: null },
      { reason_ref: 'No.' },
    ],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'REVISE', reason: 'So.', revised_proposal: 'Better.' },
      { decision: 'REVISE' },
      { reason_ref: 'So.', revised_ref: 'Better.' },
    ],
    [
      'edit_section',
      { section_id: 'keys', base_version: 2, text: 'Text.', status: 'done' },
      { section_id: 'keys', base_version: 2, status: 'done' },
      { text_ref: 'Text.' },
    ],
    [
      'generate_code',
      { section_id: 'keys', language: 'sql', instructions: 'A table.' },
      { section_id: 'keys', language: 'sql' },
      { instructions_ref: 'A table.' },
    ],
    ['get_current_claims', {}, { section_id: null }, {}],
    ['get_negotiation_state', { claim_id: 'c1' }, { claim_id: 'c1' }, {}],
    [
      'assign_turn',
      { member: 'bob', instruction: 'Go.' },
      { member: 'bob' },
      { instruction_ref: 'Go.' },
    ],
    [
      'open_negotiation',
      { section_id: 'keys', reason: 'No.' },
      { section_id: 'keys' },
      { reason_ref: 'No.' },
    ],
  ] as const)('%s %j', async (name, input, small, texts) => {
    const { read: found, store } = await read(name, input);
    expect(found).toMatchObject({ ok: true, call: { tool: name, ...small } });
    const call = new Map(Object.entries(found.ok ? found.call : {}));
    for (const [field, text] of Object.entries(texts)) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await store.getText(String(call.get(field)))).toBe(text);
    }
  });

  it('a summary is stored whole, and says which sections it decides and leaves open', async () => {
    const summary = {
      decisions: [
        { section_id: 'keys', decision: 'One.' },
        { section_id: 'keys', decision: 'Two.' },
      ],
      open_questions: [
        { section_id: 'tables', question: 'How long?' },
        { section_id: null, question: 'Why?' },
      ],
      artifacts: [],
    };
    const { read: found, store } = await read('submit_summary', summary);
    if (!found.ok || found.call.tool !== 'submit_summary') throw new Error('not taken');
    const { summary_ref, decided, open } = found.call.summary;
    expect([decided, open]).toEqual([['keys'], ['tables']]);
    expect(JSON.parse(await store.getText(summary_ref))).toEqual(summary);
  });
});

describe('a call that does not fit comes back with path, reason and "Try: …", and nothing is stored', () => {
  it.each([
    [
      'register_claim',
      { section_id: 7, proposal: 'P' },
      'section_id: .*expected string.* Try: give it as string',
    ],
    [
      'register_claim',
      { ...claim, owner: 'ann' },
      '\\$: fields that do not belong here: "owner".* Try: leave',
    ],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'AGREE', reason: 'R' },
      'decision: expected one of "CONCEDE", "REVISE", "HOLD".* Try: ',
    ],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'HOLD', reason: ' ' },
      'reason: too little.* Try: ',
    ],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'REVISE', reason: 'R' },
      'revised_proposal: REVISE needs.* Try: ',
    ],
    [
      'negotiate_response',
      { claim_id: 'c1', decision: 'CONCEDE', reason: 'R', revised_proposal: 'P' },
      'revised_proposal: .* Try: ',
    ],
    [
      'edit_section',
      { section_id: 'keys', base_version: '1', text: 'T', status: 'done' },
      'base_version: .* Try: give it as number',
    ],
    ['generate_code', { section_id: 'keys', instructions: 'I' }, 'language: missing.* Try: add it'],
    ['get_current_claims', { claim_id: 'c1' }, '\\$: fields that do not belong here: "claim_id"'],
    ['get_negotiation_state', {}, 'claim_id: missing'],
    ['assign_turn', { member: 'bob', instruction: '' }, 'instruction: too little'],
    [
      'open_negotiation',
      { section_id: 'keys', reason: 'x'.repeat(2_001) },
      'reason: too much.* Try: keep what matters',
    ],
    [
      'submit_summary',
      { decisions: [], open_questions: [{}], artifacts: [] },
      'open_questions\\[0\\].question: missing',
    ],
    ['submit_summary', null, '\\$: .*expected object'],
  ] as const)('%s, case %#', async (name, input, expected) => {
    expect((await faultsOf(name, input)).join('\n')).toMatch(new RegExp(expected));
  });

  it('all faults at once', async () => {
    expect(await faultsOf('edit_section', {})).toHaveLength(4);
  });
});

describe('a reply with state calls', () => {
  it('may hold calls of every kind, in their order', async () => {
    const bench = await benchThatCalls(
      { id: 't1', name: 'load_detail', input: { detail_id: 'x' } },
      { id: 't2', name: 'register_claim', input: claim },
      { id: 't3', name: 'register_claim', input: { section_id: 'keys' } },
      { id: 't4', name: 'nonsense', input: {} },
    );
    const calls = await settle(bench, ['register_claim']);
    const proposal_ref = await bench.store.put(claim.proposal);
    expect(calls).toMatchObject([
      { tool_use_id: 't1', name: 'load_detail', input_ref: expect.any(String) },
      {
        tool_use_id: 't2',
        name: 'register_claim',
        state: {
          ok: true,
          call: { tool: 'register_claim', section_id: 'keys', for_member: null, proposal_ref },
        },
      },
      {
        tool_use_id: 't3',
        name: 'register_claim',
        state: {
          ok: false,
          tool: 'register_claim',
          faults: [expect.objectContaining({ path: 'proposal' })],
        },
      },
      { tool_use_id: 't4', name: 'nonsense', input_ref: expect.any(String) },
    ]);
  });

  it('a tool of another role or phase is refused without a look at its arguments', async () => {
    const input = { section_id: 'keys', language: 'sql', instructions: 'NEVER-STORED' };
    const bench = await benchThatCalls({ id: 't1', name: 'generate_code', input });
    const [call] = await settle(bench, ['negotiate_response', 'get_current_claims']);
    expect(call).toMatchObject({
      state: {
        ok: false,
        tool: 'generate_code',
        faults: [
          {
            reason: expect.stringContaining('not a tool of your role in this phase'),
            hint: 'Try: "negotiate_response", "get_current_claims".',
          },
        ],
      },
    });
    expect(await bench.store.has(await createMemoryStore().put('NEVER-STORED'))).toBe(false);
  });

  it('outside of a triad it is a call of a tool that nobody has', async () => {
    const bench = await benchThatCalls({ id: 't1', name: 'register_claim', input: claim });
    const [call] = await settle(bench, undefined);
    if (call === undefined || 'state' in call) throw new Error('it was taken');
    expect(call.read?.is_error).toBe(true);
    expect(await bench.store.getText(call.read?.result_ref ?? '')).toContain(
      'There is no tool "register_claim"',
    );
  });

  it('no agent file can grant one: the worker takes no tool of such a name', () => {
    const spec = { ...loadDetail.spec, name: 'register_claim' };
    expect(() => createToolRegistry([{ ...loadDetail, spec }])).toThrow('"register_claim"');
  });

  it('part of fault 50: more faults than history should hold go back as one, and the reply is not kept', async () => {
    const input = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`${i}`.padEnd(99, 'x'), 1]),
    );
    const calls = Array.from({ length: 100 }, (_, i) => ({
      id: `t${i}`,
      name: 'edit_section',
      input,
    }));
    const bench = await benchThatCalls(...calls);
    const { reply, head } = await bench.turn({
      stage: 'member',
      append: [memberPrompt(bench, briefOf())],
      state_tools: ['edit_section'],
    });
    expect(reply).toMatchObject({
      type: 'malformed',
      faults: [{ reason: expect.stringContaining('more faults than can be listed') }],
    });
    expect((await bench.node(head)).messages.map(({ role }) => role)).toEqual(['user']);
  });

  it('a text that a call puts into the records holds no secret', async () => {
    const redactor = createRedactor({ secrets: [planted.own] });
    const store = redactStore(createMemoryStore(), redactor);
    const input = { ...claim, proposal: `Use ${planted.github} as key.` };
    const script: Script = callTools([{ id: 't1', name: 'register_claim', input }]);
    const model = redactModel(createScriptedModel([script]), redactor);
    const bench = await createBench({ deps: { model }, plan: triadPlan });
    const [call] = await settle(bench, ['register_claim']);
    if (call === undefined || !('state' in call) || !call.state.ok) throw new Error('not taken');
    if (call.state.call.tool !== 'register_claim') throw new Error('another tool');
    const kept = await bench.store.getText(call.state.call.proposal_ref);
    expect(kept).toBe('Use [redacted:github] as key.');
    expect(plantedPieces.filter((piece) => kept.includes(piece))).toEqual([]);
    const found = await stateTools.register_claim.read(input, store);
    if (!found.ok || found.call.tool !== 'register_claim') throw new Error('not taken');
    expect(await store.getText(found.call.proposal_ref)).toBe(kept);
  });
});
