import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createUnconfinedRunner } from '../../../activities/adapters/sandbox/command-runner.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import type { CommandRunner } from '../../../activities/ports/command-runner.ts';
import { createChangeFiles } from '../../../activities/tools/registry/change-files.ts';
import { createGitTools, createReadFiles } from '../../../activities/tools/registry/read-files.ts';
import { createRunCommand } from '../../../activities/tools/registry/run-command.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { RunToolInput, RunToolResult } from '../../../contracts/activity-types.ts';
import type { EffectOrder } from '../../../contracts/effect.ts';
import { agents, createBench, runIn } from '../../unit/activities/bench.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { notFound, oldAttempt } from '../../support/old-attempt.ts';
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
  const workspaces = fileWorkspaces(home, undefined, worktrees);
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
  const tools = [
    ...createReadFiles(workspaces),
    ...createChangeFiles(workspaces),
    ...createGitTools(worktrees),
    createRunCommand({ runner, workspaces, worktrees }),
  ];
  const bench = await createBench({ deps: { tools: createToolRegistry(tools) } });
  const names = tools.map(({ spec }) => spec.name);
  const registry_ref = await bench.store.put(
    registryOf(agents.map((agent) => ({ ...agent, allowed_tools: names }))),
  );
  const plain = join(home, 'plain');
  mkdirSync(plain, { recursive: true });
  const record = await readRecord(bench.store, bench.record_ref);
  const workspace_dir = over.plain === true ? plain : dir;
  const record_ref = await bench.store.put(
    JSON.stringify({ ...record, workspace_dir, ...(over.plain === true && { changes: 'direct' }) }),
  );
  const call = async (
    input: unknown,
    effect: EffectOrder = order,
    name = 'run_command',
    env = bench.env(),
  ) => {
    const input_ref = await bench.store.put(JSON.stringify(input));
    const given: RunToolInput = {
      run_id: 'my-run',
      agent_id: 'writer',
      delegation_id: 'fix',
      registry_ref,
      record_ref,
      builds_on: [],
      call: { tool_use_id: 't1', name, input_ref },
      effect,
    };
    const result: RunToolResult = await runIn(env, bench.activities.runTool, given);
    const text = result.type === 'done' ? await bench.store.getText(result.result_ref) : '';
    return { result, text, input_ref };
  };
  const read = (name: string, input: unknown = {}) => {
    const reading = { record_ref, upstream: [], loads_left: 1, acts: true };
    const caller = { agent_id: 'writer', delegation_id: 'fix', registry_ref, reading };
    return bench.read({ name, input }, caller);
  };
  /** Approves a command that a person was asked about. */
  const approve = async (input: unknown): Promise<EffectOrder> => {
    const { result, input_ref } = await call(input);
    if (result.type !== 'needs_approval') throw new Error('not asked');
    const approval = {
      effect_id: order.effect_id,
      tool: 'run_command',
      arguments_ref: input_ref,
      before: result.before,
      question_id: 'q1',
      asked_at: Math.floor(Date.now() / 1_000),
    };
    return { ...order, approval };
  };
  const worktree = join(home, 'my-run', 'worktrees', 'fix', 'files');
  return { bench, call, read, approve, dir, worktree, plain, runs: () => runs };
}

const edits = { argv: ['sh', '-c', 'echo "a + b" > sum.js; echo edited; exit 3'] };

it('a command changes the delegation’s worktree, and its exit code is the receipt', async () => {
  const { call, read, worktree, dir } = await createSet();
  const { result, text } = await call(edits);
  expect(result).toMatchObject({
    is_error: false,
    effect: { state: 'confirmed', receipt: { command: { exit_code: 3, confined: true } } },
  });
  expect(text).toMatch(/^\$ sh -c "echo .*\nexit code 3, after [\d.]+ s\nedited\n$/);
  expect(readFileSync(join(worktree, 'sum.js'), 'utf8')).toBe('a + b\n');
  expect(readFileSync(join(dir, 'sum.js'), 'utf8')).toBe('a - b\n');
  expect((await read('git_status')).text).toBe('changed "sum.js"');
  expect((await read('git_diff')).text).toContain('+a + b');
});

it('heartbeats show the last whole line of a running command', async () => {
  const { bench, call } = await createSet();
  const env = bench.env();
  const shown = new Set<unknown>();
  // It goes on when its first line was seen, so that nothing depends on time.
  const flag = join(mkdtempSync(join(tmpdir(), 'planwave-flag-')), 'seen');
  env.on('heartbeat', ({ last_words }: Readonly<Record<string, unknown>>) => {
    shown.add(last_words);
    if (last_words === 'step 1') writeFileSync(flag, '');
  });
  const script = `echo step 1; printf 'half a li'; until [ -e "${flag}" ]; do sleep 0.01; done; echo ne`;
  await call({ argv: ['sh', '-c', script] }, order, 'run_command', env);
  expect(shown).toContain('step 1');
  expect(shown).not.toContain('half a li');
});

it('every file tool works in the same worktree as commands, and replaces files there without asking', async () => {
  const { call, read, worktree, dir } = await createSet();
  const edit = { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' };
  const { result } = await call(edit, order, 'edit_file');
  expect(result).toMatchObject({ type: 'done', is_error: false });
  expect(readFileSync(join(worktree, 'sum.js'), 'utf8')).toBe('a + b\n');
  expect(readFileSync(join(dir, 'sum.js'), 'utf8')).toBe('a - b\n');
  expect((await read('read_file', { path: 'sum.js' })).text).toContain('a + b');
  expect((await read('search_files', { pattern: 'a . b' })).text).toContain('a + b');
  const shown = await call({ argv: ['cat', 'sum.js'] }, { ...order, effect_id: 'task/effect-2' });
  expect(shown.text).toContain('a + b');
});

it('the first reads of one reply, all at once, share one worktree', async () => {
  const { read } = await createSet();
  const names = ['git_status', 'git_diff', 'list_files', 'git_status', 'git_diff'];
  const answers = await Promise.all(names.map((name) => read(name)));
  expect(answers.map(({ is_error }) => is_error)).toEqual(names.map(() => false));
});

it('a repeated call finds its receipt and runs nothing', async () => {
  const { call, runs } = await createSet();
  const first = await call(edits);
  expect(await call(edits)).toEqual(first);
  expect(runs()).toBe(1);
});

/** Leaves the ledger as a worker does that was killed while the command ran. */
type CommandSet = Awaited<ReturnType<typeof createSet>>;

async function interrupt(set: CommandSet, input: unknown, effect?: EffectOrder) {
  await set.call(input, effect);
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
  expect((await set.read('git_status')).text).toBe('added "made"\nchanged "sum.js"');
  expect([set.runs(), ended]).toEqual([2, [set.worktree]]);
});

it('an attempt that comes back when another one has the work neither ends its command nor puts files back', async () => {
  let isLost = false;
  const ended: string[] = [];
  const set = await createSet({
    runner: {
      endLeftovers: async (folder) => {
        ended.push(folder);
        isLost = true;
        writeFileSync(join(set.worktree, 'sum.js'), 'later work\n');
      },
    },
  });
  await interrupt(set, edits);
  const env = oldAttempt(() => (isLost ? Promise.reject(notFound()) : Promise.resolve()));
  await expect(set.call(edits, order, 'run_command', env)).rejects.toThrow('somebody else');
  expect(readFileSync(join(set.worktree, 'sum.js'), 'utf8')).toBe('later work\n');
  await expect(set.call(edits, order, 'run_command', env)).rejects.toThrow('somebody else');
  expect([set.runs(), ended]).toEqual([1, [set.worktree]]);
});

it('in a folder that is used directly the user approves each command, and is asked about an interrupted one', async () => {
  const set = await createSet({ plain: true });
  const approved = await set.approve(edits);
  expect(set.runs()).toBe(0);
  await interrupt(set, edits, approved);
  expect((await set.call(edits)).result).toMatchObject({ type: 'unverified', round: 1 });
  expect(set.runs()).toBe(1);
  expect(readFileSync(join(set.plain, 'sum.js'), 'utf8')).toBe('a + b\n');
  expect((await set.read('git_status')).text).toContain('in the folder itself');
});

it('an unconfined command needs an approval, and the result says unconfined', async () => {
  const set = await createSet({ runner: { confined: false } });
  const approved = await set.approve(edits);
  expect(set.runs()).toBe(0);
  const done = await set.call(edits, approved);
  expect(done.text).toContain('exit code 3');
  expect(done.text).toContain(', unconfined');
  // It may still be running after a crash, so nothing is put back.
  const [key = ''] = set.bench.effects.entries.keys();
  const started = set.bench.effects.history.find(({ type }) => type === 'started');
  if (started === undefined) throw new Error('no entry');
  set.bench.effects.entries.set(key, started);
  const again = await set.call(edits, approved);
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

it.each([
  ['in a sandbox', {}],
  ['without one', { runner: { confined: false } }],
  ['in a folder that is used directly', { plain: true }],
])('a command that was not started is an error that the model can read: %s', async (_how, over) => {
  for (const input of [{ argv: ['no-such-program'] }, { argv: ['true'], cwd: 'no/folder' }]) {
    // oxlint-disable-next-line no-await-in-loop
    const { call, approve } = await createSet(over);
    // oxlint-disable-next-line no-await-in-loop
    const approved = Object.keys(over).length > 0 ? await approve(input) : order;
    // A person need not say whether it ran.
    // oxlint-disable-next-line no-await-in-loop
    const { result, text } = await call(input, approved);
    expect(text).toMatch(/ENOENT: the command was not started\. Try: /);
    expect(result).toMatchObject({ is_error: true, effect: { state: 'failed' } });
  }
});
