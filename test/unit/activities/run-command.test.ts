import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileWorkspaces } from '../../../activities/adapters/file-workspaces.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createUnconfinedRunner } from '../../../activities/adapters/sandbox/command-runner.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import type { CommandRunner } from '../../../activities/ports/command-runner.ts';
import { createGitTools } from '../../../activities/tools/registry/git-tools.ts';
import { createRunCommand } from '../../../activities/tools/registry/run-command.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { RunToolInput, RunToolResult } from '../../../contracts/activity-types.ts';
import type { EffectOrder } from '../../../contracts/effect.ts';
import { agents, createBench, runIn } from './bench.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { registryOf } from '../../support/registry-of.ts';

const order: EffectOrder = {
  effect_id: 'task/effect-1',
  chain_id: 'chain',
  approval: null,
  resolution: null,
};

/** Runs without a sandbox, but offered as one with it: what a sandbox forbids is tested where there is one. */
const unconfined = createUnconfinedRunner({ toolchains: [], sharedFolders: [] });

async function createSet(over: { runner?: Partial<CommandRunner>; plain?: boolean } = {}) {
  const { home, dir } = createGitFixture({ 'sum.js': 'a - b\n' });
  const worktrees = createGitWorktrees({ home });
  const workspaces = createFileWorkspaces({ home, worktrees });
  let runs = 0;
  const runner: CommandRunner = {
    ...unconfined,
    confined: true,
    ...over.runner,
    run: (...args) => {
      runs += 1;
      return unconfined.run(...args);
    },
  };
  const tools = [createRunCommand({ runner, workspaces, worktrees }), ...createGitTools(worktrees)];
  const bench = await createBench({ deps: { tools: createToolRegistry(tools) } });
  const names = tools.map(({ spec }) => spec.name);
  const registry_ref = await bench.store.put(
    registryOf(agents.map((agent) => ({ ...agent, allowed_tools: names }))),
  );
  const plain = join(home, 'plain');
  mkdirSync(plain, { recursive: true });
  const record = await readRecord(bench.store, bench.record_ref);
  const workspace_dir = over.plain === true ? plain : dir;
  const record_ref = await bench.store.put(JSON.stringify({ ...record, workspace_dir }));
  const call = async (input: unknown, name = 'run_command', effect: EffectOrder = order) => {
    const input_ref = await bench.store.put(JSON.stringify(input));
    const given: RunToolInput = {
      run_id: 'my-run',
      agent_id: 'writer',
      delegation_id: 'fix',
      registry_ref,
      record_ref,
      upstream: [],
      loads_left: 1,
      call: { tool_use_id: 't1', name, input_ref, ...(name === 'run_command' && { acts: true }) },
      ...(name === 'run_command' && { effect }),
    };
    const result: RunToolResult = await runIn(bench.env(), bench.activities.runTool, given);
    const text = result.type === 'done' ? await bench.store.getText(result.result_ref) : '';
    return { result, text, input_ref };
  };
  const worktree = join(home, 'my-run', 'worktrees', 'fix', 'files');
  return { bench, call, dir, worktree, plain, runs: () => runs };
}

const edits = { argv: ['sh', '-c', 'echo "a + b" > sum.js; echo edited; exit 3'] };

it('a command changes the delegation’s worktree, and its exit code is the receipt', async () => {
  const { call, worktree, dir } = await createSet();
  const { result, text } = await call(edits);
  expect(result).toMatchObject({
    is_error: false,
    effect: { state: 'confirmed', receipt: { command: { exit_code: 3, confined: true } } },
  });
  expect(text).toMatch(/^\$ sh -c "echo .*\nexit code 3, after [\d.]+ s\nedited\n$/);
  expect(readFileSync(join(worktree, 'sum.js'), 'utf8')).toBe('a + b\n');
  expect(readFileSync(join(dir, 'sum.js'), 'utf8')).toBe('a - b\n');
  expect((await call({}, 'git_status')).text).toBe('changed "sum.js"');
  expect((await call({}, 'git_diff')).text).toContain('+a + b');
});

it('a repeated call finds its receipt and runs nothing', async () => {
  const { call, runs } = await createSet();
  const first = await call(edits);
  expect(await call(edits)).toEqual(first);
  expect(runs()).toBe(1);
});

/** Leaves the ledger as a worker does that was killed while the command ran. */
async function interrupt(set: Awaited<ReturnType<typeof createSet>>, input: unknown) {
  await set.call(input);
  const [key = ''] = set.bench.effects.entries.keys();
  const started = set.bench.effects.history.find(({ type }) => type === 'started');
  if (started === undefined) throw new Error('no entry');
  set.bench.effects.entries.set(key, started);
}

it('an interrupted command is repeated from the files that were there before, and the user is not asked', async () => {
  const appends = { argv: ['sh', '-c', 'echo more >> sum.js; cat sum.js; touch made'] };
  const ended: string[] = [];
  const set = await createSet({
    runner: { endLeftovers: (folder) => Promise.resolve(void ended.push(folder)) },
  });
  await interrupt(set, appends);
  writeFileSync(join(set.worktree, 'half-written'), 'x');
  const { result, text } = await set.call(appends);
  expect(result).toMatchObject({ type: 'done', effect: { state: 'confirmed' } });
  expect(text).toContain('a - b\nmore\n');
  expect(text).not.toContain('more\nmore');
  expect((await set.call({}, 'git_status')).text).toBe('added "made"\nchanged "sum.js"');
  expect([set.runs(), ended]).toEqual([2, [set.worktree]]);
});

it('in a folder without worktrees the user is asked about an interrupted command', async () => {
  const set = await createSet({ plain: true });
  await interrupt(set, edits);
  expect((await set.call(edits)).result).toMatchObject({ type: 'unverified', round: 1 });
  expect(set.runs()).toBe(1);
  expect(readFileSync(join(set.plain, 'sum.js'), 'utf8')).toBe('a + b\n');
  expect((await set.call({}, 'git_status')).text).toContain('no git repository');
});

it('an unconfined command needs an approval, and the result says unconfined', async () => {
  const set = await createSet({ runner: { confined: false } });
  const { result, input_ref } = await set.call(edits);
  expect(result).toMatchObject({ type: 'needs_approval' });
  expect(set.runs()).toBe(0);
  const approval = {
    effect_id: order.effect_id,
    tool: 'run_command',
    arguments_ref: input_ref,
    question_id: 'q1',
    asked_at: Math.floor(Date.now() / 1_000),
  };
  const done = await set.call(edits, 'run_command', { ...order, approval });
  expect(done.text).toContain('exit code 3');
  expect(done.text).toContain(', unconfined');
  // It may still be running after a crash, so nothing is put back.
  const [key = ''] = set.bench.effects.entries.keys();
  const started = set.bench.effects.history.find(({ type }) => type === 'started');
  if (started === undefined) throw new Error('no entry');
  set.bench.effects.entries.set(key, started);
  const again = await set.call(edits, 'run_command', { ...order, approval });
  expect(again.result).toMatchObject({ type: 'unverified' });
  expect(set.runs()).toBe(1);
});

it('both ends of a long output are shown, and the whole is an artifact', async () => {
  const { call, bench } = await createSet();
  const { text } = await call({ argv: ['sh', '-c', 'seq 1 20000; echo the end'] });
  expect(text).toContain('\n1\n2\n3\n');
  expect(text).toContain('the end');
  expect(text.length).toBeLessThan(22_000);
  const [, ref = ''] = /the artifact ([0-9a-f]{64})/.exec(text) ?? [];
  expect(await bench.store.getText(ref)).toContain('\n10000\n');
});

it.each([
  { argv: [] },
  { argv: 'npm test' },
  { argv: ['a\0b'] },
  { argv: ['ls'], cwd: '../..' },
  { argv: ['ls'], cwd: '/etc' },
  { argv: ['ls'], cwd: 'a/../../b' },
  { argv: ['ls'], timeout_seconds: 3_600 },
  { argv: ['ls'], shell: true },
])('%j goes back to the model and runs nothing', async (input) => {
  const { call, runs } = await createSet();
  const { result, text } = await call(input);
  expect(result).toMatchObject({ is_error: true });
  expect(text).toContain('not valid');
  expect(runs()).toBe(0);
});

it('a program that does not exist is an error that the model can read', async () => {
  const { call } = await createSet();
  const { result, text } = await call({ argv: ['no-such-program'] });
  expect(result).toMatchObject({ is_error: true, effect: { state: 'failed' } });
  expect(text).toContain('ENOENT');
});
