import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { ActingTool } from '../../../activities/tools/tool.ts';
import { createChangeFiles } from '../../../activities/tools/registry/change-files.ts';
import { hashBytes } from '../../../activities/text/bytes.ts';
import type { RunToolInput, RunToolResult } from '../../../contracts/activity-types.ts';
import type { AgentDefinition } from '../../../contracts/agent-definition.ts';
import type { Approval, EffectOrder } from '../../../contracts/effect.ts';
import { engineLimits } from '../../../core/limits.ts';
import { agents, createBench, runIn } from './bench.ts';
import { registryOf } from '../../support/registry-of.ts';

/** The execution in which activities run, by `MockActivityEnvironment`. */
const runId = '00000000-0000-0000-0000-000000000000';

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const args = { path: 'out/a.md', content: 'Hello' };
const order: EffectOrder = {
  effect_id: 'task/effect-1',
  chain_id: 'chain',
  approval: null,
  resolution: null,
};

async function createSet(
  over: {
    tool?: (real: ActingTool) => Partial<ActingTool>;
    agent?: Partial<AgentDefinition>;
    timeoutMs?: number;
  } = {},
) {
  const home = mkdtempSync(join(tmpdir(), 'planwave-acting-'));
  folders.push(home);
  const [real] = createChangeFiles(fileWorkspaces(home));
  if (real === undefined) throw new Error('There is no write_file.');
  const tool = { ...real, ...over.tool?.(real) };
  let acts = 0;
  const counted: ActingTool = {
    ...tool,
    act: (...call) => {
      acts += 1;
      return tool.act(...call);
    },
  };
  const bench = await createBench({
    deps: { tools: createToolRegistry([counted]), toolTimeoutMs: over.timeoutMs ?? 30_000 },
  });
  const granted = agents.map((agent) => ({
    ...agent,
    allowed_tools: agent.agent_id === 'writer' ? ['write_file'] : [],
    ...(agent.agent_id === 'writer' && over.agent),
  }));
  const registry_ref = await bench.store.put(registryOf(granted));
  const file = join(home, 'my-run', 'workspace', 'out', 'a.md');
  const send = async (changes: Partial<RunToolInput>, input: unknown) => {
    const input_ref = await bench.store.put(JSON.stringify(input));
    const result: RunToolResult = await runIn(bench.env(), bench.activities.runTool, {
      run_id: 'my-run',
      agent_id: 'writer',
      builds_on: [],
      registry_ref,
      record_ref: bench.record_ref,
      call: { tool_use_id: 't1', name: 'write_file', input_ref },
      ...changes,
    });
    const text = result.type === 'done' ? await bench.store.getText(result.result_ref) : '';
    return { result, text, input_ref };
  };
  const call = (changes: Partial<RunToolInput> = {}, input: unknown = args) =>
    send({ effect: order, ...changes }, input);
  const callWithoutOrder = () => send({}, args);
  return { bench, call, callWithoutOrder, file, acts: () => acts };
}

it('a write is in the ledger before it happens and after it, and its receipt is the file', async () => {
  const { bench, call, file, acts } = await createSet();
  const { result, text } = await call();
  const receipt = { target: args.path, sha256: hashBytes('Hello'), bytes: 5 };
  expect(readFileSync(file, 'utf8')).toBe('Hello');
  expect(result).toMatchObject({
    type: 'done',
    is_error: false,
    effect: { state: 'confirmed', receipt },
  });
  expect(text).toContain(receipt.sha256);
  const before = JSON.stringify({ before: null, after: receipt.sha256 });
  const beginning = { before, run_id: runId };
  expect(bench.effects.history).toEqual([
    { type: 'started', round: 1, ...beginning },
    { type: 'confirmed', receipt, beginning },
  ]);
  expect(acts()).toBe(1);
});

it('part of fault 48: a repeated call finds its receipt and writes nothing', async () => {
  const { call, file, acts } = await createSet();
  const first = await call();
  rmSync(file);
  expect(await call()).toEqual(first);
  expect([acts(), existsSync(file)]).toEqual([1, false]);
  // Another call of the same agent with the same arguments is another effect.
  await call({ effect: { ...order, effect_id: 'task/effect-2' } });
  expect([acts(), existsSync(file)]).toEqual([2, true]);
});

/** Leaves the ledger as a crash would: started, and nothing after it. */
async function crashed(before: string | null) {
  const set = await createSet();
  if (before !== null)
    await set.call(
      { effect: { ...order, effect_id: 'task/effect-0' } },
      { ...args, content: before },
    );
  const actsBefore = set.acts();
  await set.call();
  const [key] = [...set.bench.effects.entries.keys()].slice(-1);
  const started = set.bench.effects.history.findLast(({ type }) => type === 'started');
  if (key === undefined || started === undefined) throw new Error('no entry');
  set.bench.effects.entries.set(key, started);
  return { ...set, acts: () => set.acts() - actsBefore };
}

describe('part of fault 48: an attempt that finds a started effect', () => {
  it('and its outcome: it is confirmed without another write', async () => {
    const { call, acts } = await crashed('before');
    const { result } = await call();
    expect(result).toMatchObject({ type: 'done', effect: { state: 'confirmed' } });
    expect(acts()).toBe(1);
  });

  it.each([
    ['an old file', 'before'],
    ['no file', null],
  ])('and what was there before (%s): it is safe to write', async (_, before) => {
    const { call, file, acts } = await crashed(before);
    if (before === null) rmSync(file);
    else writeFileSync(file, before);
    const { result } = await call();
    expect(result).toMatchObject({ type: 'done', effect: { state: 'confirmed' } });
    expect([acts(), readFileSync(file, 'utf8')]).toEqual([2, 'Hello']);
  });

  it('and something else: it is unverified, once asked for, and only the answer acts', async () => {
    const { call, file, acts } = await crashed('before');
    writeFileSync(file, 'by somebody else');
    const { result } = await call();
    expect(result).toMatchObject({ type: 'unverified', target: args.path, round: 1 });
    expect(await call()).toMatchObject({ result });
    const late = { round: 2, choice: 'retry' } as const;
    expect((await call({ effect: { ...order, resolution: late } })).result).toEqual(result);
    expect([acts(), readFileSync(file, 'utf8')]).toEqual([1, 'by somebody else']);
    const retry = await call({ effect: { ...order, resolution: { round: 1, choice: 'retry' } } });
    expect(retry.result).toMatchObject({ type: 'done', effect: { state: 'confirmed' } });
    expect([acts(), readFileSync(file, 'utf8')]).toEqual([2, 'Hello']);
    // The activity that carries the answer may itself be repeated.
    const again = await call({ effect: { ...order, resolution: { round: 1, choice: 'retry' } } });
    expect([again, acts()]).toEqual([retry, 2]);
  });

  it.each([
    ['verified', { is_error: false, effect: { state: 'confirmed', receipt: null } }],
    ['skip', { is_error: true, effect: { state: 'skipped' } }],
  ] as const)('and the user says %s: nothing is written', async (choice, expected) => {
    const { call, file, acts } = await crashed('before');
    writeFileSync(file, 'by somebody else');
    await call();
    const { result } = await call({ effect: { ...order, resolution: { round: 1, choice } } });
    expect(result).toMatchObject({ type: 'done', ...expected });
    expect([acts(), readFileSync(file, 'utf8')]).toEqual([1, 'by somebody else']);
  });

  it('that the ledger can no longer read: it is unverified', async () => {
    const { bench, call, acts } = await crashed('before');
    bench.effects.find = async () => ({ state: 'damaged', version: 2 });
    expect((await call()).result).toMatchObject({ type: 'unverified', round: 1 });
    expect(acts()).toBe(1);
  });
});

describe('fault 47: a tool that acts', () => {
  it('throws before anything happened: an error result, and nothing claimed', async () => {
    const { call } = await createSet({
      tool: () => ({ act: () => Promise.reject(new Error('boom')) }),
    });
    const { result, text } = await call();
    expect(text).toBe('write_file failed: boom');
    expect(result).toMatchObject({ is_error: true, effect: { state: 'failed', reason: text } });
  });

  it('throws after it happened: it is confirmed by what can be seen', async () => {
    const { call, file } = await createSet({
      tool: (real) => ({
        act: async (...given) => {
          await real.act(...given);
          throw new Error('too late');
        },
      }),
    });
    const { result } = await call();
    expect(result).toMatchObject({ is_error: false, effect: { state: 'confirmed' } });
    expect(readFileSync(file, 'utf8')).toBe('Hello');
  });

  it('hangs: nobody knows, so it is not repeated but asked about', async () => {
    const { call } = await createSet({
      tool: () => ({ act: () => new Promise(() => {}) }),
      timeoutMs: 500,
    });
    const { result } = await call();
    expect(result).toMatchObject({
      type: 'unverified',
      found: expect.stringContaining('longer than'),
    });
  });

  it.each([
    ['a path outside', { ...args, path: '../a.md' }, /can't be written.*Try: /],
    ['an absolute path', { ...args, path: '/etc/passwd' }, /can't be written.*Try: /],
    ['no content', { path: 'a.md' }, /content: missing/],
    ['too much', { ...args, content: 'x'.repeat(500_001) }, /content: too much/],
    ['no object', 'a.md', /arguments of write_file are not valid/],
  ])('is called with %s: told so, and nothing begun', async (_, input, said) => {
    const { bench, call, acts } = await createSet();
    const { result, text } = await call({}, input);
    expect(result).toMatchObject({ type: 'done', is_error: true });
    expect(text).toMatch(said);
    expect(acts()).toBe(0);
    expect(bench.effects.history.filter(({ type }) => type === 'started')).toEqual([]);
  });

  it('is called without its order, or by an agent without the grant: nothing is begun', async () => {
    const { bench, call, callWithoutOrder, acts } = await createSet();
    expect((await callWithoutOrder()).text).toContain('leaves no record');
    expect((await call({ agent_id: 'reviewer' })).text).toContain('There is no tool');
    expect([acts(), bench.effects.history]).toEqual([0, []]);
  });
});

describe('approval of a call', () => {
  const now = Math.floor(Date.now() / 1_000);
  const approve = (input_ref: string, over: Partial<Approval> = {}): EffectOrder => ({
    ...order,
    approval: {
      effect_id: order.effect_id,
      tool: 'write_file',
      arguments_ref: input_ref,
      before: '',
      question_id: 'q1',
      asked_at: now,
      ...over,
    },
  });

  it('an agent of high risk needs one, and it is of use for that call alone', async () => {
    const { bench, call, acts } = await createSet({ agent: { risk_level: 'high' } });
    const { result, input_ref } = await call();
    expect(result).toEqual({
      type: 'needs_approval',
      target: args.path,
      arguments_shown: JSON.stringify(args),
      before: '',
      loss_shown: [],
    });
    for (const over of [
      { arguments_ref: 'b'.repeat(64) },
      { effect_id: 'task/effect-9' },
      { tool: 'x' },
    ]) {
      const other = await call({ effect: approve(input_ref, over) });
      expect(other.result).toMatchObject({ type: 'needs_approval' });
    }
    // The same approval for other arguments.
    const changed = await call({ effect: approve(input_ref) }, { ...args, content: 'Other' });
    expect(changed.result).toMatchObject({ type: 'needs_approval' });
    const late = now - engineLimits.approvalSecondsMax - 10;
    const expired = await call({ effect: approve(input_ref, { asked_at: late }) });
    expect(expired.text).toMatch(/has expired.*Try: call write_file again/);
    expect([acts(), bench.effects.history]).toEqual([0, []]);
    const done = await call({ effect: approve(input_ref) });
    expect(done.result).toMatchObject({ type: 'done', effect: { state: 'confirmed' } });
    // Used up: the same again is the same effect.
    await call({ effect: approve(input_ref) });
    expect(acts()).toBe(1);
  });

  it('a tool marked always needs one whatever the risk, and one marked never needs none', async () => {
    const always = await createSet({ tool: () => ({ approval: 'always' }) });
    expect((await always.call()).result).toMatchObject({ type: 'needs_approval' });
    const never = await createSet({
      tool: () => ({ approval: 'never' }),
      agent: { risk_level: 'high' },
    });
    expect((await never.call()).result).toMatchObject({ type: 'done' });
  });
});
