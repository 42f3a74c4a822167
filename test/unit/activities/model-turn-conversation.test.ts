import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { TurnInput } from '../../../contracts/model-turn.ts';
import type { ModelRequest } from '../../../activities/ports/model-client.ts';
import { unmarked } from '../../support/marked-data.ts';
import { callTools, sayJson, sayText } from '../../support/scripted-model.ts';
import { agents, createBench, outputOf } from './bench.ts';
import type { Bench } from './bench.ts';
import { registryOf } from '../../support/registry-of.ts';

const faults: TurnInput = {
  type: 'faults',
  faults: [{ path: 'status', reason: 'wrong', hint: 'Try: "failed"' }],
};

const roles = (request: ModelRequest | undefined): string[] =>
  request?.messages.map((message) => message.role) ?? [];

const blockTypes = (request: ModelRequest | undefined): string[] =>
  request?.messages.at(-1)?.content.map((block) => block.type) ?? [];

const toolResult = async (bench: Bench, id: string, text: string): Promise<TurnInput> => ({
  type: 'tool_result',
  tool_use_id: id,
  result_ref: await bench.store.put(text),
  is_error: false,
});

describe('the chain', () => {
  it('each turn adds a node with its own messages only', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    const first = await bench.turn();
    const second = await bench.turn({ head: first.head, append: [faults] });
    const node = await bench.node(second.head);
    expect(node.parent).toBe(first.head);
    expect(node.messages.map((message) => message.role)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(node)).not.toContain('Compare three providers');
    expect(roles(bench.model.requests[1])).toEqual(['user', 'assistant', 'user']);
  });

  it('finding T9: the first node names the rendered packet as an artifact and does not repeat it', async () => {
    const bench = await createBench({ scripts: [sayJson(outputOf())] });
    const { head } = await bench.turn();
    const node = await bench.node(head);
    const { packet_ref } = node;
    const content = bench.model.requests[0]?.messages[0]?.content ?? [];
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    expect(texts).toHaveLength(2);
    expect(texts.join('\n\n')).toBe(await bench.store.getText(packet_ref ?? ''));
    for (const text of texts) expect(JSON.stringify(node)).not.toContain(text.slice(0, 40));

    await bench.turn({ head, append: [faults] });
    expect(bench.model.requests[1]?.messages[0]).toEqual(bench.model.requests[0]?.messages[0]);
  });

  it('one user message, tool results first, in the order of the calls', async () => {
    const calls = ['t1', 't2'].map((id) => ({ id, name: 'load_detail', input: {} }));
    const bench = await createBench({ scripts: [callTools(calls), sayJson(outputOf())] });
    const { head } = await bench.turn();
    const results = [await toolResult(bench, 't1', 'one'), await toolResult(bench, 't2', 'two')];
    await bench.turn({ head, append: [faults, ...results] });
    expect(roles(bench.model.requests[1])).toEqual(['user', 'assistant', 'user']);
    expect(blockTypes(bench.model.requests[1])).toEqual(['tool_result', 'tool_result', 'text']);
    expect(bench.model.requests[1]?.messages.at(-1)?.content[0]).toMatchObject({
      content: expect.stringContaining('\none\n'),
    });
  });

  it('a conversation without a beginning is refused before a call', async () => {
    const bench = await createBench({ scripts: [sayText('')] });
    await expect(bench.turn({ append: [] })).rejects.toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
    });
    expect(bench.model.requests).toHaveLength(0);
  });

  it('opaque blocks go back to the model that wrote them, and to no other', async () => {
    const thinking: ContentBlock = { type: 'opaque', raw: { type: 'thinking' } };
    const text: ContentBlock = { type: 'text', text: JSON.stringify(outputOf()) };
    const bench = await createBench({
      scripts: [
        () => ({
          content: [thinking, text],
          stopReason: 'end_turn',
          tokens: null,
          requestId: null,
          model: 'rehearsal',
        }),
      ],
    });
    const { head } = await bench.turn();
    await bench.turn({ head, append: [faults] });
    expect(bench.model.requests[1]?.messages[1]?.content).toEqual([thinking, text]);
    const other = agents.map((agent) => ({ ...agent, model: 'claude-opus-5-5' }));
    const registry_ref = await bench.store.put(registryOf(other));
    await bench.turn({ head, append: [faults], registry_ref });
    expect(bench.model.requests[2]?.model).toBe('claude-opus-5-5');
    expect(bench.model.requests[2]?.messages[1]?.content).toEqual([text]);
  });
});

describe('a call whose reply was not kept', () => {
  it.each([
    ['an empty append', (input: TurnInput[]) => input.slice(0, 0)],
    ['the same append', (input: TurnInput[]) => input],
  ])('repeated with %s: nothing is lost, nothing doubled', async (_what, again) => {
    const bench = await createBench({
      scripts: [
        sayJson(outputOf()),
        sayText('{', 'max_tokens'),
        sayText('{', 'max_tokens'),
        sayJson(outputOf()),
      ],
    });
    const first = await bench.turn();
    const cut = await bench.turn({ head: first.head, append: [faults] });
    const cutAgain = await bench.turn({ head: cut.head, append: again([faults]) });
    const whole = await bench.turn({ head: cutAgain.head, append: again([faults]) });
    expect(cutAgain.head).toBe(cut.head);
    const [, one, two, three] = bench.model.requests;
    expect(two?.messages).toEqual(one?.messages);
    expect(three?.messages).toEqual(one?.messages);
    const node = await bench.node(whole.head);
    expect([node.parent, node.awaiting]).toEqual([cut.head, null]);
    expect(node.messages.map((message) => message.role)).toEqual(['assistant']);
  });

  it('takes further inputs into the same user message', async () => {
    const bench = await createBench({ scripts: [sayText(''), sayJson(outputOf())] });
    const { head } = await bench.turn();
    const { head: next } = await bench.turn({ head, append: [faults] });
    expect(roles(bench.model.requests[1])).toEqual(['user']);
    expect(bench.model.requests[1]?.messages[0]?.content).toHaveLength(3);
    await bench.turn({ head: next, append: [faults] });
    expect(roles(bench.model.requests[2])).toEqual(['user', 'assistant', 'user']);
  });

  it('a refused prompt that is too long is a reply, not a failure, and costs nothing', async () => {
    const { ModelFailure } = await import('../../../activities/ports/model-client.ts');
    const bench = await createBench({
      scripts: [
        () => {
          throw new ModelFailure('prompt is too long', {
            type: 'ModelContextExceeded',
            retryable: false,
            details: {
              status: 400,
              type: null,
              error_code: null,
              request_id: 'r',
              model: 'm',
              usage: null,
            },
          });
        },
      ],
    });
    const { reply, usage, request_id } = await bench.turn();
    expect([reply, usage.calls, request_id]).toEqual([{ type: 'context_exceeded' }, 0, 'r']);
  });
});

const call = (id: string, detail_id: string) =>
  callTools([{ id, name: 'load_detail', input: { detail_id, page: 2 } }]);

const loadTwice = async (): Promise<{ bench: Bench; head: string }> => {
  const bench = await createBench({
    scripts: [call('t1', 'old'), call('t2', 'newer'), call('t3', 'newest'), sayJson(outputOf())],
  });
  let { head } = await bench.turn();
  const append = async (id: string): Promise<TurnInput[]> => [
    await toolResult(bench, id, id.repeat(id === 't1' ? 30_000 : 20_000)),
  ];
  ({ head } = await bench.turn({ head, append: await append('t1') }));
  ({ head } = await bench.turn({ head, append: await append('t2') }));
  return { bench, head };
};

const resultsOf = (request: ModelRequest | undefined): string[] =>
  (request?.messages ?? [])
    .flatMap((message) => message.content)
    .filter((block) => block.type === 'tool_result')
    .map((block) => block.content);

describe('compaction', () => {
  it('leaves out the oldest results until half of the bytes are gone, and says how to get them again', async () => {
    const { bench, head } = await loadTwice();
    const append = [await toolResult(bench, 't3', 't3'.repeat(20_000))];
    await bench.turn({ head, append, compact: true });
    const [oldest, newer, newest] = resultsOf(bench.model.requests[3]);
    expect(oldest).toContain('{"detail_id":"old","page":2}');
    expect(oldest).toContain('load_detail gives it again');
    expect(newer).toContain('"newer"');
    expect(unmarked(newest ?? '')).toBe('t3'.repeat(20_000));
  });

  it('stays left out in later turns, and the transcript keeps everything', async () => {
    const { bench, head } = await loadTwice();
    const append = [await toolResult(bench, 't3', 'small')];
    const { head: compacted } = await bench.turn({ head, append, compact: true });
    expect((await bench.node(compacted)).left_out).toEqual(['t1']);
    await bench.turn({ head: compacted, append: [faults] });
    const [oldest, newer] = resultsOf(bench.model.requests[4]);
    expect(oldest).toContain('Left out');
    expect(unmarked(newer ?? '')).toBe('t2'.repeat(20_000));
    const texts = [...bench.store.artifacts.values()].map((bytes) => Buffer.from(bytes).toString());
    expect(texts).toContain('t1'.repeat(30_000));
  });

  it('never leaves out the newest result', async () => {
    const { bench, head } = await loadTwice();
    const append = [await toolResult(bench, 't3', 't3'.repeat(900_000))];
    await bench.turn({ head, append, compact: true });
    expect(unmarked(resultsOf(bench.model.requests[3])[2] ?? '')).toHaveLength(1_800_000);
  });
});
