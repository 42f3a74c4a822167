import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileWorkspaces } from '../../../activities/adapters/workspaces/file-workspaces.ts';
import { folderTools } from '../../../core/effects/step-effect.ts';
import { encryptStore } from '../../../activities/encryption/encrypt-ports.ts';
import type { ActingTool } from '../../../activities/tools/tool.ts';
import { createStoreCipher } from '../../../encryption/encrypting-codec.ts';
import type { KeyRing } from '../../../encryption/key-ring.ts';
import { testKeys } from '../../support/test-keys.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import {
  createToolRegistry,
  grantableNames,
} from '../../../activities/tools/registry/create-registry.ts';
import { createChangeFiles } from '../../../activities/tools/registry/change-files.ts';
import { createReadFiles } from '../../../activities/tools/registry/read-files.ts';
import { listGrantable } from '../../../activities/tools/tool.ts';
import type { RunToolResult } from '../../../contracts/activity-types.ts';
import type { EffectOrder } from '../../../contracts/effect.ts';
import { fileWorkspaces, shippedTools } from '../../support/file-workspaces.ts';
import { registryOf } from '../../support/registry-of.ts';
import { agents, createBench, runIn } from './bench.ts';

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A run with a workspace that holds one file of the user's, and agents that may use every file tool. */
async function createSet() {
  const top = mkdtempSync(join(tmpdir(), 'planwave-files-'));
  folders.push(top);
  const dir = join(top, 'project');
  const home = join(top, 'home');
  mkdirSync(join(dir, 'src'), { recursive: true });
  mkdirSync(home);
  const file = join(dir, 'src/price.ts');
  writeFileSync(file, 'const price = cents / 10;\r\nexport { price };\r\n');
  const workspaces = fileWorkspaces(home);
  const tools = createToolRegistry([
    ...createReadFiles(workspaces),
    ...createChangeFiles(workspaces),
  ]);
  const bench = await createBench({ deps: { tools }, record: { workspace_dir: dir } });
  const allowed_tools = listGrantable(tools).map(({ spec }) => spec.name);
  const granted = agents.map((agent) => ({ ...agent, allowed_tools }));
  const registry_ref = await bench.store.put(registryOf(granted));
  let effects = 0;
  /** Calls a tool that changes something, as an effect of its own. */
  const change = async (
    name: string,
    input: unknown,
    approve?: Extract<RunToolResult, { type: 'needs_approval' }>,
  ) => {
    const input_ref = await bench.store.put(JSON.stringify(input));
    const effect_id = `task/effect-${approve === undefined ? (effects += 1) : effects}`;
    const asked_at = Math.floor(Date.now() / 1_000);
    const approval = approve && {
      effect_id,
      tool: name,
      arguments_ref: input_ref,
      before: approve.before,
      question_id: 'q1',
      asked_at,
    };
    const effect: EffectOrder = {
      effect_id,
      chain_id: 'chain',
      approval: approval ?? null,
      resolution: null,
    };
    const result = await runIn(bench.env(), bench.activities.runTool, {
      run_id: 'my-run',
      agent_id: 'writer',
      builds_on: [],
      registry_ref,
      record_ref: bench.record_ref,
      call: { tool_use_id: 't1', name, input_ref },
      effect,
    });
    const text = result.type === 'done' ? await bench.store.getText(result.result_ref) : '';
    return { result, text };
  };
  const read = (name: string, input: unknown, agent_id = 'reviewer') =>
    bench.read({ name, input }, { registry_ref, agent_id });
  return { home, dir, file, change, read };
}

const edit = {
  path: 'src/price.ts',
  old_string: 'cents / 10;\nexport',
  new_string: 'cents / 100;\nexport',
};

it('the shipped tools are those that agent files may name', () => {
  const tools = shippedTools('nowhere');
  expect(listGrantable(tools).map(({ spec }) => spec.name)).toEqual(grantableNames);
});

it('members of a triad take turns at each shipped tool that changes something', () => {
  const acting = listGrantable(shippedTools('nowhere')).filter(({ effect }) => effect === 'acting');
  expect(acting.map(({ spec }) => spec.name)).toEqual(folderTools);
});

it('finding W3: an agent reads the file that another one wrote', async () => {
  const { change, read } = await createSet();
  const content = `# Report\n${'A line of the report.\n'.repeat(1_500)}`;
  await change('write_file', { path: 'reports/market.md', content });
  const first = await read('read_file', { path: 'reports/market.md' });
  expect(first.is_error).toBe(false);
  expect(first.text).toMatch(/^\["reports\/market\.md": lines 1–\d+ of 1501, \d+ bytes, SHA-256 /);
  expect(first.text).toContain('\n    1\t# Report\n    2\tA line of the report.\n');
  const next = /\[Go on with (\{.*\})\]$/.exec(first.text)?.[1] ?? '';
  let last = await read('read_file', JSON.parse(next));
  while (!last.text.endsWith('[The end of the file.]')) {
    const more = /\[Go on with (\{.*\})\]$/.exec(last.text)?.[1] ?? '';
    // Each page names the next.
    // oxlint-disable-next-line no-await-in-loop
    last = await read('read_file', JSON.parse(more));
  }
  expect((await read('list_files', {})).text).toContain('reports/market.md (');
  expect((await read('search_files', { pattern: 'Rep.rt$' })).text).toBe(
    'reports/market.md:1: # Report',
  );
});

it.each([
  ['read_file', { path: '.env' }, /private.*Try: /],
  ['read_file', { path: 'missing.md' }, /There is no/],
  ['read_file', { path: 'src/price.ts', from_line: 9 }, /has 2 lines.*Try: /],
  ['read_file', { path: 'src' }, /not a file/],
  ['list_files', { path: '../' }, /Try: /],
  ['search_files', { pattern: '(' }, /failed.*Try: /s],
  [
    'search_files',
    { pattern: 'nothing like it' },
    /^\[Nothing was found\. Files with more than 5000000 bytes are not searched\.\]$/,
  ],
] as const)('%s %j says what is wrong', async (name, input, said) => {
  const { read } = await createSet();
  expect((await read(name, input)).text).toMatch(said);
});

it('a file that is no text is neither shown nor edited, and stays as it is', async () => {
  const { dir, read, change } = await createSet();
  for (const bytes of [
    [0, 1, 2, 0xff],
    [0x61, 0xc3, 0x28],
  ]) {
    writeFileSync(join(dir, 'data.bin'), Buffer.from(bytes));
    // oxlint-disable-next-line no-await-in-loop
    expect((await read('read_file', { path: 'data.bin' })).is_error).toBe(true);
    const input = { path: 'data.bin', old_string: 'a', new_string: 'b' };
    // oxlint-disable-next-line no-await-in-loop
    const { text, result } = await change('edit_file', input);
    expect(JSON.stringify([text, result])).toMatch(/no text in UTF-8/);
    expect([...readFileSync(join(dir, 'data.bin'))]).toEqual(bytes);
  }
});

it('a mark never takes the place of the secret that it stands for', async () => {
  const { dir, file, change } = await createSet();
  const secret = "const key = 'AKIAQ7ZK2M4P5R6S7T8U';\nconst port = 1;\n";
  writeFileSync(file, secret);
  const path = 'src/price.ts';
  const mark = "const key = '[redacted:aws]';\n";
  const reason = /\[redacted:aws\].*stands for a secret that planwave hid.*Try: edit_file/;
  const whole = await change('write_file', { path, content: `${mark}const port = 2;\n` });
  expect(whole.text).toMatch(reason);
  const copied = await change('edit_file', { path, old_string: mark, new_string: '' });
  expect(copied.text).toMatch(reason);
  expect(readFileSync(file, 'utf8')).toBe(secret);
  const around = { path, old_string: 'port = 1', new_string: 'port = 2' };
  expect((await change('edit_file', around)).result.type).toBe('needs_approval');
  // A page may speak of marks.
  const page = { path: 'notes/marks.md', content: mark };
  expect((await change('write_file', page)).result).toMatchObject({ is_error: false });
  await change('write_file', { ...page, content: `${mark}More.\n` });
  expect(readFileSync(join(dir, page.path), 'utf8')).toBe(`${mark}More.\n`);
});

describe('finding T5: work that the run did not write', () => {
  it('is replaced only with an approval, which shows the change, and is kept', async () => {
    const { home, file, change } = await createSet();
    const before = readFileSync(file);
    const { result } = await change('edit_file', edit);
    if (result.type !== 'needs_approval') throw new Error(result.type);
    expect(readFileSync(file)).toEqual(before);
    expect(result.loss_shown).toEqual([
      expect.stringContaining('this run did not write it'),
      'It replaces once:',
      '- cents / 10;',
      '- export',
      '+ cents / 100;',
      '+ export',
    ]);
    const done = await change('edit_file', edit, result);
    // The file keeps its line ends.
    expect(readFileSync(file, 'utf8')).toBe('const price = cents / 100;\r\nexport { price };\r\n');
    const effect = done.result.type === 'done' ? done.result.effect : undefined;
    const kept = await createFileArtifactStore({ home }).get(effect?.receipt?.replaced_ref ?? '');
    expect(Buffer.from(kept)).toEqual(before);
  });

  it('a changed file needs a new approval, because another state was shown', async () => {
    const { file, change } = await createSet();
    const whole = { path: 'src/price.ts', content: 'export {};\n' };
    const { result } = await change('write_file', whole);
    if (result.type !== 'needs_approval') throw new Error(result.type);
    expect(result.loss_shown[1]).toBe(
      'It replaces the whole file: 46 bytes before, 11 bytes after.',
    );
    writeFileSync(file, "the user's newer work");
    const again = await change('write_file', whole, result);
    expect(again.result).toMatchObject({ type: 'needs_approval' });
    expect(readFileSync(file, 'utf8')).toBe("the user's newer work");
  });

  it("a run's own file is edited and removed without one, until somebody else has changed it", async () => {
    const { dir, change } = await createSet();
    const path = 'notes/a.md';
    await change('write_file', { path, content: 'one' });
    const edited = await change('edit_file', { path, old_string: 'one', new_string: 'two' });
    expect(edited.result).toMatchObject({ type: 'done', is_error: false });
    writeFileSync(join(dir, path), 'mine');
    expect((await change('delete_file', { path })).result.type).toBe('needs_approval');
    writeFileSync(join(dir, path), 'two');
    const removed = await change('delete_file', { path });
    expect(removed.text).toContain('is removed');
    expect(removed.result).toMatchObject({ effect: { receipt: { removed: true } } });
    expect(existsSync(join(dir, path))).toBe(false);
  });

  it('a call that can’t be made is not put to a person', async () => {
    const { change } = await createSet();
    const twice = await change('edit_file', { ...edit, old_string: 'price' });
    expect(twice.text).toMatch(/has 2 matches.*Try: /);
    const none = await change('edit_file', { ...edit, old_string: 'absent' });
    expect(none.text).toMatch(/0 matches.*Try: /);
    const missing = await change('delete_file', { path: 'absent.md' });
    expect(missing.result).toMatchObject({ type: 'done', is_error: true });
  });
});

/** Tools for one file of the user's, and the context of a call; with keys, also of what is stored. */
async function createCalls(keys: KeyRing) {
  const dir = mkdtempSync(join(tmpdir(), 'planwave-killed-'));
  folders.push(dir);
  const bench = await createBench({ record: { workspace_dir: dir } });
  const store = encryptStore(bench.store, createStoreCipher(keys));
  const keep = (content: Uint8Array) => store.put(content);
  const tools = createChangeFiles(createFileWorkspaces({ home: join(dir, 'home'), keep }));
  writeFileSync(join(dir, 'a.txt'), 'old');
  const context = {
    store,
    run_id: 'my-run',
    delegation_id: '',
    builds_on: [],
    record_ref: bench.record_ref,
    signal: new AbortController().signal,
    mayStill: async () => {},
  };
  const toolOf = (name: string): ActingTool => {
    const tool = tools.find(({ spec }) => spec.name === name);
    if (tool === undefined) throw new Error(`There is no ${name}.`);
    return tool;
  };
  return { context, toolOf };
}

describe('a change whose worker was killed before it was confirmed', () => {
  it.each([
    ['write_file', { path: 'a.txt', content: 'new' }],
    ['edit_file', { path: 'a.txt', old_string: 'old', new_string: 'new' }],
    ['delete_file', { path: 'a.txt' }],
  ])('has the receipt that it would have had, with keys too: %s', async (name, input) => {
    for (const keys of [testKeys(), testKeys('k1')]) {
      const { context, toolOf } = await createCalls(keys);
      const tool = toolOf(name);
      const before = await tool.look(input, context);
      const receipt = await tool.act(input, { ...context, before });
      expect(await context.store.getText(receipt.replaced_ref ?? '')).toBe('old');
      const known = { ...receipt, bytes: expect.any(Number) };
      expect(await tool.check(input, before, context)).toEqual({
        type: 'happened',
        receipt: known,
      });
    }
  });
});
