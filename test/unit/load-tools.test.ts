import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { recallEffect, runEffect } from '../../activities/tools/run-effect.ts';
import type { EffectEnd } from '../../activities/tools/run-effect.ts';
import { createTools, grantableNames } from '../../activities/tools/registry/create-registry.ts';
import {
  listGrantable,
  type ActingTool,
  type GrantableTool,
  type ReadContext,
} from '../../activities/tools/tool.ts';
import { createDoctorChecks } from '../../scripts/doctor-checks.ts';
import { readSettings } from '../../scripts/parts/settings.ts';
import { computeBuildId } from '../../worker/bundle-workflows.ts';
import { loadTools } from '../../worker/load-modules.ts';
import { createFileWorkspaces } from '../../activities/adapters/workspaces/file-workspaces.ts';
import { createGitWorktrees } from '../../activities/adapters/git/git-worktrees.ts';
import { createMemoryEffects } from '../support/memory-effects.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import { faultOf as moduleFault, useModuleFolder } from '../support/module-files.ts';

const { folder, write } = useModuleFolder();
const faultOf = (file: string): Promise<string> => moduleFault(loadTools(file));

const page = readFileSync('docs/tools.md', 'utf8');
const [example = '', exampleTest = ''] = [...page.matchAll(/```js\n([^]*?)```/g)].map(
  ([, code = '']) => code,
);

const store = createMemoryStore();
const context: ReadContext = {
  store,
  run_id: 'my-run',
  delegation_id: 'work',
  builds_on: [],
  record_ref: 'a'.repeat(64),
  signal: new AbortController().signal,
  upstream: [],
  loads_left: 0,
  listAddresses: async () => [],
  onLoaded: () => {},
};

function actingOf(tools: readonly GrantableTool[], name: string): ActingTool {
  const tool = tools.find(({ spec }) => spec.name === name);
  if (tool?.effect !== 'acting') throw new Error(`${name} does not act.`);
  return tool;
}

/** Makes a call as an activity does, over as many attempts as it takes. */
async function callOf(
  tool: ActingTool,
  input: unknown,
  ledger = createMemoryEffects(),
): Promise<EffectEnd> {
  const call = {
    ledger,
    key: 'k',
    runId: 'execution-1',
    tool,
    input,
    resolution: null,
    context,
    timeoutMs: 5_000,
    assertCurrent: async () => {},
  };
  return runEffect(call, await recallEffect(ledger, 'k'));
}

describe('the page about tools', () => {
  it('lists every built-in tool with what it does and brings', () => {
    const home = join(folder, 'home');
    const places = {
      workspaces: createFileWorkspaces({ home, keep: async () => 'a'.repeat(64) }),
      worktrees: createGitWorktrees({ home }),
      commands: {
        confined: true,
        run: () => Promise.reject(new Error('no commands here')),
        endLeftovers: async () => {},
      },
      web: { pages: { fetch: () => Promise.reject(new Error('no web here')) } },
    };
    const rows = listGrantable(createTools(places)).map(
      ({ spec, effect, brings, needsWorkspace = false }) =>
        [`\`${spec.name}\``, effect, brings.join(', ') || '–', needsWorkspace ? 'yes' : 'no'].join(
          ' | ',
        ),
    );
    const listed = [...page.matchAll(/^\| (`\w+`.*?) *\|$/gm)].map(([, row = '']) =>
      row.replaceAll(/ +\| +/g, ' | '),
    );
    expect(listed).toEqual(rows);
    expect(rows).toHaveLength(grantableNames.length);
  });

  it('shows a complete tool with its test in fewer than 60 lines, and the test passes', async () => {
    expect((example + exampleTest).trim().split('\n').length).toBeLessThan(60);
    write('doc/tools.mjs', example);
    const file = write('doc/tools.test.mjs', exampleTest);
    symlinkSync(resolve('node_modules'), join(folder, 'doc/node_modules'));
    const run = promisify(execFile)(process.execPath, ['--test', file], {
      cwd: join(folder, 'doc'),
      env: { PATH: process.env['PATH'] },
    });
    expect((await run).stdout).toContain('pass 1');
  });

  it('shows tools that do what it says', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${String(request.headers['idempotency-key'])}`);
      response.end(request.method === 'POST' ? 'closed now' : 'a ticket');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('It has no port.');
    process.env['TICKETS_URL'] = `http://127.0.0.1:${address.port}`;
    try {
      const tools = await loadTools(write('shown/tools.mjs', example));
      const [read] = tools;
      if (read?.effect !== 'read') throw new Error('It does not read.');
      expect(await read.run({ id: 17 }, context)).toBe('a ticket');
      const close = actingOf(tools, 'close_ticket');
      const ledger = createMemoryEffects();
      const end = await callOf(close, { id: 17, reason: 'Paid.' }, ledger);
      expect(end).toMatchObject({
        type: 'confirmed',
        receipt: { target: 'ticket 17', bytes: 10, call: true },
      });
      if (end.type !== 'confirmed' || end.receipt === null) throw new Error('There is no receipt.');
      expect(await close.describeDone?.(end.receipt, context)).toBe('closed now');
      // The key was in the ledger before the call.
      const [started] = ledger.history;
      expect(started).toMatchObject({ type: 'started' });
      const key = started?.type === 'started' ? started.before : '';
      expect(asked).toEqual(['GET /tickets/17 undefined', `POST /tickets/17/close ${key}`]);
      expect(await callOf(close, { id: 0, reason: 'Paid.' })).toMatchObject({ type: 'failed' });
    } finally {
      delete process.env['TICKETS_URL'];
      server.close();
    }
  });
});

const moduleOf = (look: string): string =>
  `export const tools = ({ defineTool, z }) => [defineTool({
     name: 'post', description: 'Posts.', schema: z.strictObject({}), effect: 'acting', brings: [],
     run: () => { throw new Error('the line was cut'); }, ${look} })];`;

describe('an acting tool that was interrupted', () => {
  it.each([
    ['done', 'confirmed'],
    ['absent', 'failed'],
    ['unknown', 'unverified'],
    [null, 'unverified'],
  ])('and finds %j is %s', async (found, type) => {
    const look = found === null ? '' : `look: () => '${found}'`;
    const tools = await loadTools(write(`look/${String(found)}.mjs`, moduleOf(look)));
    expect(await callOf(actingOf(tools, 'post'), {})).toMatchObject({ type });
  });
});

it('without a module there are none', async () => {
  expect(await loadTools(undefined)).toEqual([]);
});

it.each([
  ['absent', null, "it can't be loaded: "],
  ['broken', 'export const = 5;', "it can't be loaded: "],
  ['empty', 'export const other = [];', 'it has no function "tools" among its exports'],
  ['list', 'export const tools = [];', 'it has no function "tools" among its exports'],
  [
    'throwing',
    `export const tools = () => { throw new Error('no key'); };`,
    'its function "tools" threw: no key',
  ],
  ['number', 'export const tools = () => 5;', 'tools: expected a list'],
])('a module that is %s is told with its file and what to do', async (name, text, said) => {
  const path = `bad/${name}.mjs`;
  const file = text === null ? join(folder, path) : write(path, text);
  const message = await faultOf(file);
  expect(message).toContain(`PLANWAVE_TOOLS can't be used: ${file}\n- ${said}`);
  expect(message).toMatch(/\nTry: [^]+\.$/);
});

it('tells all that is wrong with a list at once, each fault with its tool', async () => {
  const file = write(
    'faults.mjs',
    `const run = () => '';
     export const tools = ({ z }) => [
       { name: 'read_file', description: 'x', schema: z.strictObject({}), effect: 'read', brings: [], run },
       { name: 'mcp__a__b', description: '', schema: z.string(), effect: 'write', brings: ['all'], run: 5 },
       null,
       { name: 'a', description: 'x', schema: z.strictObject({}), effect: 'acting', brings: [], run,
         approval: 'maybe', timeout_seconds: 0, look: 1, target: 1 },
       { name: 'a', description: 'x', schema: {}, effect: 'read', brings: [], run },
       { name: 'b', description: 'x', schema: z.strictObject({}), effect: 'acting', brings: [], run, aproval: 'always' },
       { name: 'c', description: 'x', schema: z.strictObject({}), effect: 'read', brings: [], run, timeout_seconds: 9 },
     ];`,
  );
  const lines = (await faultOf(file)).split('\n').filter((line) => line.startsWith('- '));
  expect(lines.map((line) => line.split(/: expected|: it is/)[0])).toEqual([
    '- tools[0] "read_file": name',
    '- tools[1] "mcp__a__b": name',
    '- tools[1] "mcp__a__b": description',
    '- tools[1] "mcp__a__b": schema',
    '- tools[1] "mcp__a__b": effect',
    '- tools[1] "mcp__a__b": brings',
    '- tools[1] "mcp__a__b": run',
    '- tools[2]',
    '- tools[3] "a": approval',
    '- tools[3] "a": timeout_seconds',
    '- tools[3] "a": look',
    '- tools[3] "a": target',
    '- tools[4] "a": name',
    '- tools[4] "a": schema',
    '- tools[5] "b": unknown field "aproval". Did you mean "approval"?',
    '- tools[6] "c": timeout_seconds: only an acting tool has it. Try: leave it out',
  ]);
});

it.each([
  ['throws', 'input.ticket.id'],
  ['gives no text', 'input.id'],
  ['gives an empty text', "' '"],
  ['is a promise that rejects', "Promise.reject(new Error('No.'))"],
])('a target that %s leaves the name of a call to its arguments', async (how, said) => {
  const file = write(
    `target/${how}.mjs`,
    `export const tools = ({ z }) => [{
       name: 'close_ticket', description: 'Closes.', schema: z.strictObject({ id: z.number() }),
       effect: 'acting', brings: [], target: (input) => ${said}, run: () => 'Done.',
     }];`,
  );
  const tool = actingOf(await loadTools(file), 'close_ticket');
  expect(tool.targetOf({ id: 17 })).toBe('close_ticket {"id":17}');
});

it('the build id changes with the module', async () => {
  const file = write('id.mjs', 'export const tools = () => [];');
  const before = await computeBuildId([undefined, file]);
  write('id.mjs', 'export const tools = () => [ ];');
  expect(await computeBuildId([undefined, file])).not.toBe(before);
  expect(await computeBuildId([undefined, undefined])).toBe(await computeBuildId());
});

it('doctor names the tools, and says what is wrong', async () => {
  const check = createDoctorChecks(readSettings({})).find(({ name }) => name === 'Tools');
  try {
    expect(await check?.run()).toMatchObject({
      ok: true,
      detail: expect.stringContaining('no PLANWAVE_TOOLS'),
    });
    process.env['PLANWAVE_TOOLS'] = write('doctor.mjs', example);
    expect((await check?.run())?.detail).toContain('read_ticket, close_ticket of ');
    process.env['PLANWAVE_TOOLS'] = write('doctor-bad.mjs', 'export const tools = () => 5;');
    expect(await check?.run()).toMatchObject({
      ok: false,
      cure: expect.stringContaining('docs/tools.md'),
    });
  } finally {
    delete process.env['PLANWAVE_TOOLS'];
  }
});
