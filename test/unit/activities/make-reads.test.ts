import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { StoreUnavailable } from '../../../activities/ports/artifact-store.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import { toTool } from '../../../activities/tools/own-tool.ts';
import type { ActingTool, ReadingTool } from '../../../activities/tools/tool.ts';
import { registryOf } from '../../support/registry-of.ts';
import { callTools } from '../../support/scripted-model.ts';
import { agents, createBench, runIn } from './bench.ts';

const spec = (name: string) => ({ name, description: name, input: z.strictObject({}) });

const reader = (name: string, run: ReadingTool['run']): ReadingTool => ({
  spec: spec(name),
  effect: 'read',
  brings: [],
  offeredTo: ['agents'],
  run,
});

const changer: ActingTool = {
  spec: spec('change'),
  effect: 'acting',
  brings: [],
  offeredTo: ['agents'],
  approval: 'never',
  targetOf: () => 'a',
  look: async () => '',
  act: () => Promise.reject(new Error('A model call acts on nothing.')),
  check: async () => ({ type: 'absent' }),
};

/** A bench whose model makes these calls, one of each name. */
async function benchOf(
  names: readonly string[],
  tools: readonly (ReadingTool | ActingTool)[],
  acts = true,
  deps: { readonly toolTimeoutMs?: number } = {},
) {
  const calls = names.map((name, at) => ({ id: `t${at}`, name, input: {} }));
  const bench = await createBench({
    scripts: [callTools(calls)],
    deps: { tools: createToolRegistry(tools), ...deps },
  });
  const allowed_tools = tools.map((tool) => tool.spec.name);
  const granted = agents.map((agent) => ({ ...agent, allowed_tools }));
  const registry_ref = await bench.store.put(registryOf(granted));
  const reading = { record_ref: bench.record_ref, upstream: [], loads_left: 3, acts };
  return { bench, input: bench.input({ registry_ref, reading }) };
}

it('M11: calls that change nothing are made with the reply, in order; the others are left to the workflow', async () => {
  const tools = [reader('one', async () => 'first'), changer, reader('two', async () => 'second')];
  const { bench, input } = await benchOf(['one', 'change', 'two', 'unknown'], tools);
  const { reply } = await runIn(bench.env(), bench.activities.modelTurn, input);
  if (reply.type !== 'tools') throw new Error(reply.type);
  const texts = await Promise.all(
    reply.calls.map(async (call) =>
      'state' in call || call.read === undefined ? null : bench.store.getText(call.read.result_ref),
    ),
  );
  expect(texts.slice(0, 3)).toEqual(['first', null, 'second']);
  expect(texts[3]).toContain('There is no tool "unknown"');
  expect(bench.effects.history).toEqual([]);
});

it('M11: where the workflow makes no call, one that would change something is refused with the reply', async () => {
  const tools = [changer, reader('one', async () => 'x')];
  const { bench, input } = await benchOf(['change', 'one'], tools, false);
  const { reply } = await runIn(bench.env(), bench.activities.modelTurn, input);
  expect(reply).toMatchObject({
    calls: [{ read: { is_error: true } }, { read: { is_error: false } }],
  });
  expect(bench.effects.history).toEqual([]);
});

it('M11: a repeat makes the reads again and buys nothing', async () => {
  let reads = 0;
  const failing = reader('one', async () => {
    reads += 1;
    if (reads === 1) throw new StoreUnavailable('The disk is gone.', { path: 'x', code: 'EIO' });
    return `read ${reads}`;
  });
  const { bench, input } = await benchOf(['one'], [failing]);
  const first = runIn(bench.env(1, 'same'), bench.activities.modelTurn, input);
  await expect(first).rejects.toMatchObject({ type: 'StoreUnavailable', nonRetryable: false });
  const again = await runIn(bench.env(2, 'same'), bench.activities.modelTurn, input);
  expect(again.reply).toMatchObject({ type: 'tools', calls: [{ read: { is_error: false } }] });
  expect(bench.model.requests).toHaveLength(1);
  expect(again.usage.calls).toBe(1);
  expect(reads).toBe(2);
});

const late = (): Promise<string> => setTimeout(200, 'Late.');

it('M11: a call that reads has the time that its tool states', async () => {
  const own = { brings: [], schema: z.strictObject({}), description: 'x', effect: 'read' } as const;
  const names = ['slow', 'patient'];
  const tools = [
    reader('slow', late),
    toTool({ ...own, name: 'patient', run: late, timeout_seconds: 30 }),
  ].filter((tool) => tool.effect === 'read');
  const { bench, input } = await benchOf(names, tools, true, { toolTimeoutMs: 20 });
  const { reply } = await runIn(bench.env(), bench.activities.modelTurn, input);
  expect(reply).toMatchObject({
    calls: [{ read: { is_error: true } }, { read: { is_error: false } }],
  });
});

it('M11: a call that is given up because the time of its reply is over says so', async () => {
  let passedMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  const tools = [
    reader('quick', async () => {
      passedMs = 179_900;
      return 'x';
    }),
    reader('slow', () => setTimeout(5_000, 'Late.', { ref: false })),
  ];
  const names = [...Array.from({ length: 8 }, () => 'quick'), 'slow'];
  const { bench, input } = await benchOf(names, tools);
  const { reply } = await runIn(bench.env(), bench.activities.modelTurn, input);
  vi.restoreAllMocks();
  const last = reply.type === 'tools' ? reply.calls.at(-1) : undefined;
  const ref = last && !('state' in last) ? (last.read?.result_ref ?? '') : '';
  expect(await bench.store.getText(ref)).toMatch(
    /^slow failed: it was given up after 0 s: the calls of one reply .* 180 s together.* Try: make fewer such calls/u,
  );
});

it('LD2: the calls of one reply share what may still be loaded', async () => {
  const lefts: number[] = [];
  const run: ReadingTool['run'] = async (_input, { loads_left }) => {
    lefts.push(loads_left);
    return 'x';
  };
  const loading: ReadingTool = { ...reader('one', run), loads: true };
  const other = reader('other', async () => 'y');
  // Calls that load nothing take no share, however many there are.
  const names = ['other', 'one', 'one', ...Array.from({ length: 9 }, () => 'other')];
  const { bench, input } = await benchOf([...names, 'one', 'one', 'one'], [loading, other]);
  await runIn(bench.env(), bench.activities.modelTurn, input);
  expect(lefts).toEqual([3, 2, 1, 0, 0]);
});
