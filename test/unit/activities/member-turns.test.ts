import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ModelTurnInput } from '../../../contracts/model-turn.ts';
import { memberRules } from '../../../activities/stages/member.ts';
import { findSharedPrefix } from '../../../activities/agent-turn/prefix-gate.ts';
import { callTools, sayJson, sayText } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { registryOf } from '../../support/registry-of.ts';
import { agents, createBench, outputOf, runIn } from './bench.ts';
import type { Bench } from './bench.ts';
import { ann, briefOf, cid, memberPrompt, syd, triadPlan } from './triad-bench.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';

/** Checks free texts: a member's words in its turn, and code. */

const say =
  (...content: readonly ContentBlock[]): Script =>
  () => ({ content, stopReason: 'tool_use', tokens: null, requestId: null, model: 'rehearsal' });

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const claims: ContentBlock = {
  type: 'tool_use',
  id: 't1',
  name: 'register_claim',
  input: { section_id: 'keys', proposal: 'P' },
};

const benchOf = (...scripts: readonly Script[]): Promise<Bench> =>
  createBench({ scripts, plan: triadPlan });

const memberTurn = (
  bench: Bench,
  changes: Partial<ModelTurnInput> = {},
  brief = briefOf(),
): Partial<ModelTurnInput> => ({
  stage: 'member',
  append: [memberPrompt(bench, brief)],
  state_tools: brief.tools,
  ...changes,
});

describe("a member's turn", () => {
  it('a text without calls is what it said, as it stands', async () => {
    const said = 'All is well.\n\n```json\n{"no":"output"}\n```';
    const bench = await benchOf(sayText(said));
    const { reply } = await bench.turn(memberTurn(bench));
    const said_ref = await bench.store.put(said);
    expect(reply).toEqual({ type: 'output', outline: { shape: 'member_turn', said_ref } });
    expect(await bench.store.getText(said_ref)).toBe(said);
  });

  it('a text before calls is kept as what it said', async () => {
    const bench = await benchOf(say(text('I take '), text('the keys.'), claims));
    const { reply } = await bench.turn(memberTurn(bench));
    expect(reply).toMatchObject({ type: 'tools', calls: [{ tool_use_id: 't1' }] });
    expect(reply).toMatchObject({ said_ref: await bench.store.put('I take the keys.') });
  });

  it.each([
    ['calls alone say nothing', [claims], { state_tools: ['register_claim'] }],
    ['nor does white space', [text(' \n'), claims], { state_tools: ['register_claim'] }],
    [
      'outside of a triad nobody listens',
      [text('Hm.'), claims],
      { stage: 'delegation', state_tools: undefined },
    ],
  ] as const)('%s', async (_what, content, changes) => {
    const bench = await benchOf(say(...content));
    const { state_tools, ...turn } = { ...memberTurn(bench), ...changes };
    const { reply } = await bench.turn({
      ...turn,
      ...(state_tools !== undefined && { state_tools }),
    });
    expect(reply.type).toBe('tools');
    expect(reply).not.toHaveProperty('said_ref');
  });

  it('asks for no JSON, and offers the tools of its agent and of its role', async () => {
    const bench = await benchOf(sayText('Fine.'));
    const turns: readonly (readonly [string, Partial<ModelTurnInput>])[] = [
      ['writer', { state_tools: ['get_current_claims', 'register_claim'] }],
      ['reviewer', { state_tools: ['negotiate_response'] }],
    ];
    // oxlint-disable-next-line no-await-in-loop
    for (const [agent_id, turn] of turns)
      await bench.turn(memberTurn(bench, { agent_id, ...turn }));
    expect(bench.model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['load_detail', 'register_claim', 'get_current_claims'],
      ['negotiate_response'],
    ]);
    for (const request of bench.model.requests) {
      expect(request).not.toHaveProperty('output');
      expect(request.system).toEqual([{ text: memberRules, cacheBreakpoint: true }]);
      expect(request.cachesConversation).toBe(true);
    }
  });

  it('what is cached of a wave is the same for members of one role, agent and model', async () => {
    const record = { constraints: ['c'.repeat(9_000)] };
    const bench = await createBench({ scripts: [sayText('Fine.')], plan: triadPlan, record });
    const prefixOf = async (member: typeof ann, changes: Partial<ModelTurnInput> = {}) => {
      const brief = briefOf({ member });
      await bench.turn(memberTurn(bench, { agent_id: member.agent_id, ...changes }, brief));
      const request = bench.model.requests.at(-1);
      return request === undefined ? null : findSharedPrefix(request, 'member_turn');
    };
    const peer = await prefixOf({ name: 'a', role: 'peer', agent_id: 'writer' });
    expect(peer).toEqual(expect.any(String));
    expect(await prefixOf({ name: 'b', role: 'peer', agent_id: 'writer', lens: 'cost' })).toBe(
      peer,
    );
    const others = [
      await prefixOf(cid),
      await prefixOf(ann, { model: 'another' }),
      await prefixOf(ann, { state_tools: ['edit_section'] }),
    ];
    expect(new Set([peer, ...others]).size).toBe(4);
  });

  it('part of fault 50: more calls than history should hold go back', async () => {
    const many = Array.from({ length: 101 }, (_, i) => ({ id: `t${i}`, name: 'x', input: {} }));
    const bench = await benchOf(callTools(many));
    const { reply } = await bench.turn(memberTurn(bench));
    expect(reply).toMatchObject({ type: 'malformed', faults: [{ path: '$' }] });
  });
});

describe('a model of its own', () => {
  it("is asked instead of the agent's, and is what the budget is about", async () => {
    const bench = await benchOf(sayText('Fine.'));
    const allowance = { calls: 10, tokens: null, cost_micro_usd: 1_000 };
    const cheap = await bench.turn(memberTurn(bench, { allowance }));
    expect(cheap.reply.type).toBe('output');
    const dear = await bench.turn(memberTurn(bench, { allowance, model: 'opus' }));
    expect(dear).toMatchObject({ model: 'claude-opus-5-5', reply: { type: 'unaffordable' } });
    await bench.turn(memberTurn(bench, { model: 'claude-opus-5-5' }));
    const asked = bench.model.requests.map(({ model }) => model);
    expect(asked).toEqual(['rehearsal', 'claude-opus-5-5']);
  });

  it.each([
    ['opus', 'claude-opus-5-5'],
    ['inherit', 'rehearsal'],
  ])('%s, which the input of a run gives all agents, is asked as %s', async (named, asked) => {
    const bench = await benchOf(sayText('Fine.'));
    const all = registryOf(agents.map((agent) => ({ ...agent, model: named })));
    const registry_ref = await bench.store.put(all);
    await bench.turn(memberTurn(bench, { registry_ref }));
    expect(bench.model.requests.map(({ model }) => model)).toEqual([asked]);
  });
});

describe('the output of a triad', () => {
  const writing = briefOf({
    member: syd,
    phase: 'execute',
    duties: { ...noDuties, output: true },
    tools: ['edit_section', 'generate_code'],
  });
  const outputTurn = (bench: Bench): Partial<ModelTurnInput> =>
    memberTurn(bench, { stage: 'member_output' }, writing);

  it('is JSON by the rules of any output, with the tools and rules of a member', async () => {
    const bench = await benchOf(sayJson(outputOf()), sayText('Done.'));
    expect((await bench.turn(outputTurn(bench))).reply).toMatchObject({
      type: 'output',
      outline: { shape: 'agent_output', output: { status: 'completed' } },
    });
    const [request] = bench.model.requests;
    expect(request?.tools.map(({ name }) => name)).toEqual([
      'load_detail',
      'edit_section',
      'generate_code',
    ]);
    expect(request?.output).toBeDefined();
    expect(request?.system[0]?.text).toBe(memberRules);
    expect((await bench.turn(outputTurn(bench))).reply.type).toBe('malformed');
  });

  it('may finish sections first', async () => {
    const edit: ContentBlock = {
      type: 'tool_use',
      id: 't1',
      name: 'edit_section',
      input: { section_id: 'keys', base_version: 1, text: 'T', status: 'done' },
    };
    const bench = await benchOf(say(text('First the keys.'), edit));
    expect((await bench.turn(outputTurn(bench))).reply).toMatchObject({
      type: 'tools',
      calls: [{ state: { ok: true, call: { tool: 'edit_section' } } }],
      said_ref: expect.any(String),
    });
  });
});

describe('a conversation of several turns', () => {
  it('answers the calls of a turn at the beginning of the next one, in one message', async () => {
    const bench = await benchOf(say(text('Mine.'), claims), sayText('Nothing to add.'));
    const { head } = await bench.turn(memberTurn(bench));
    const second = briefOf({ round: 2, duties: { ...noDuties, claims_min: 1 } });
    await bench.turn(
      memberTurn(bench, {
        head,
        append: [
          {
            type: 'member_turn',
            plan_ref: bench.plan_ref,
            delegation_id: 'write-report',
            brief: second,
          },
          {
            type: 'state_result',
            tool_use_id: 't1',
            text: 'c1 is registered.',
            current_ref: null,
            is_error: false,
          },
        ],
      }),
    );
    const messages = bench.model.requests[1]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    const [result, turn] = messages.at(-1)?.content ?? [];
    expect(result).toEqual({
      type: 'tool_result',
      tool_use_id: 't1',
      content: 'c1 is registered.',
      is_error: false,
    });
    expect(turn).toMatchObject({ text: expect.stringContaining('"round":2') });
    expect(messages[0]).toEqual(bench.model.requests[0]?.messages[0]);
    expect(bench.model.requests[1]?.tools).toEqual(bench.model.requests[0]?.tools);
  });

  it('a further attempt sends the same bytes', async () => {
    const bench = await benchOf(sayText('Fine.'));
    const input = bench.input(memberTurn(bench));
    // oxlint-disable-next-line no-await-in-loop
    for (const attempt of [1, 2]) {
      // oxlint-disable-next-line no-await-in-loop
      await runIn(bench.env(attempt, 'same'), bench.activities.modelTurn, input);
      bench.ledger.entries.clear();
    }
    const [first, again] = bench.model.requests;
    expect(bench.model.requests).toHaveLength(2);
    expect(again).toEqual(first);
  });
});
