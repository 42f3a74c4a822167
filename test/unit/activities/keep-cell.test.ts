import { keepCell, openEvaluation } from '../../../activities/evaluation/open-evaluation.ts';
import type { McpServer } from '../../../activities/ports/mcp-servers.ts';
import { pinTools } from '../../../activities/tools/mcp/pin-tools.ts';
import type { CellResult } from '../../../contracts/evaluation.ts';
import type { Ref } from '../../../contracts/ref.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { agents } from './bench.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

const evaluation = {
  name: 'two',
  goals: [{ name: 'goal', goal: 'Mend the sum' }],
  settings: [
    { name: 'usual', run: 'direct' },
    { name: 'other', run: 'direct', agents_dir: '/other' },
  ],
  graders: [{ kind: 'regex', pattern: 'sum' }],
};

const server = (name: string): McpServer => ({
  name,
  file: 'f',
  transport: { type: 'http', url: 'http://a.test', headers: {} },
  timeoutMs: 1_000,
  trusted: false,
  brings: null,
  approval: 'always',
});

/** An evaluation of two cells. Agents of each setting are granted the tools of the MCP server with its name. */
async function prepare() {
  const down = new Set<string>();
  const told: string[] = [];
  const kept = new Map<string, Ref>();
  const deps: Parameters<typeof openEvaluation>[0] = {
    store: createMemoryStore(),
    kept: {
      read: async (name) => ({ ref: kept.get(name) ?? null, version: 0 }),
      write: async (name, ref) => kept.set(name, ref).has(name),
    },
    agents: (dir) => ({
      load: async () =>
        agents.map((one) => ({
          ...one,
          allowed_tools: [`mcp__${dir === null ? 'usual' : 'other'}`],
        })),
    }),
    mcp: {
      servers: new Map(['usual', 'other'].map((name) => [name, server(name)])),
      list: async (name) => {
        if (down.has(name)) throw new Error(`${name} is down`);
        return pinTools(server(name), [{ name: 't', inputSchema: { type: 'object' } }]);
      },
    },
    onLeftOut: (words) => void told.push(words),
    identifyStore: async () => ({
      id: 'ab12',
      place: 'here',
      home: { id: 'cd34', place: 'there' },
    }),
    modelQueue: undefined,
    toolNames: [],
    workspaceTools: [],
    defaultModel: 'rehearsal',
    noCommands: null,
  };
  const open = async () => {
    const opened = await openEvaluation(deps, evaluation, 'execution');
    if (opened.type !== 'open') throw new Error(opened.reason);
    return opened.evaluation;
  };
  const storeFor = async (workspace_dir?: string) => {
    const goals = evaluation.goals.map((goal) => ({ ...goal, workspace_dir }));
    const opened = await openEvaluation(deps, { ...evaluation, goals }, 'execution');
    return opened.type === 'open' ? opened.store : undefined;
  };
  const refuse = async (input: object) => {
    const opened = await openEvaluation(deps, input, 'execution');
    return opened.type === 'refused' ? opened.reason.split('\n') : [];
  };
  const { open: cells, input_ref } = await open();
  const keep = async (setting: string, attempt: number): Promise<void> => {
    const found = cells.find((one) => one.setting === setting);
    if (found === undefined) throw new Error('There is no such cell.');
    const { address, ...cell } = found;
    const result: CellResult = {
      ...cell,
      run_id: 'my-run',
      status: 'completed',
      reason: '',
      passed: true,
      grades: [],
      usage: noUsage,
      seconds: 1,
      cached: false,
    };
    await keepCell(deps, { address, result, input_ref }, attempt);
  };
  const listKept = async () => (await open()).done.map(({ setting }) => setting);
  return { down, told, keep, listKept, storeFor, refuse };
}

it('a result is kept when an MCP server that was down for a moment is back', async () => {
  const { down, told, keep, listKept } = await prepare();
  down.add('other');
  await expect(keep('other', 1)).rejects.toMatchObject({
    nonRetryable: false,
    message: expect.stringContaining('other is down'),
  });
  down.clear();
  await keep('other', 2);
  expect(await listKept()).toEqual(['other']);
  expect(told).toEqual([]);
});

it('a result is not kept while a server stays down, which is said, and the evaluation goes on', async () => {
  const { down, told, keep, listKept } = await prepare();
  down.add('other');
  await keep('other', 10);
  expect(told).toEqual([expect.stringMatching(/cell 2 \(goal, other\) .*other is down\. Try: /u)]);
  down.clear();
  expect(await listKept()).toEqual([]);
});

it('servers of other settings are not asked for a result', async () => {
  const { down, keep, listKept } = await prepare();
  down.add('other');
  await keep('usual', 1);
  down.clear();
  expect(await listKept()).toEqual(['usual']);
});

it('says in which store it is kept, and with a folder of the user in which home', async () => {
  const { storeFor } = await prepare();
  const store = { id: 'ab12', place: 'here' };
  expect(await storeFor()).toEqual(store);
  expect(await storeFor('/srv/app')).toEqual({ ...store, home: { id: 'cd34', place: 'there' } });
});

it('an input with faults is refused with all of them and a good input', async () => {
  const { refuse } = await prepare();
  expect(await refuse({ ...evaluation, name: 7, gaols: [] })).toEqual([
    'The input of evaluation has 2 faults:',
    expect.stringMatching(/^- name: /),
    expect.stringMatching(/^- input: .*"gaols"\. Did you mean "goals"\?/),
    expect.stringMatching(/^A good input: \{"name":/),
  ]);
  const settings = [{ name: 'usual', run: 'triad', members: ['writer'] }];
  expect(await refuse({ ...evaluation, settings })).toEqual([
    'The input of evaluation has 1 fault:',
    expect.stringMatching(/^- settings\.0\.members: .* Try: /),
    expect.stringMatching(/^A good input: /),
  ]);
});
