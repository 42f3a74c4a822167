import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createCliDeps } from '../../../scripts/cli-deps.ts';
import { makeFolder } from '../scripts/fake-executables.ts';
import { createFakeClient, createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { status } from './support/samples.ts';

const here = '127.0.0.1:7233';
const settings = {
  home: join(makeFolder(), '.planning'),
  temporalAddressGiven: undefined,
  temporalPort: 7233,
  uiPort: 8233,
  rehearsalPort: 8787,
  webUi: true,
  needsRehearsal: true,
};
const { checkInput } = createCliDeps(settings, here);
/** Knows one run, which the server has forgotten. */
const readStoredStatus = async (run_id: string) =>
  run_id === 'old' ? status({ run_id, phase: 'completed' }) : null;

async function run(
  argv: readonly string[],
  address = here,
  store: Partial<CliDeps> = { readStoredStatus },
) {
  const io = createFakeIo();
  const started: object[] = [];
  const start = (input: object) => {
    started.push(input);
    return Promise.resolve({ run_id: 'run-1' });
  };
  const client = createFakeClient({ startRun: start, startTeam: start });
  const session = { client, address, namespace: 'default', connection: Connection.lazy() };
  const openSession = () => Promise.resolve({ ...session, close: () => Promise.resolve() });
  const code = await runCli(argv, createFakeDeps(io, {}, { checkInput, ...store, openSession }));
  return { code, out: io.out(), err: io.err(), started };
}

const team = ['team', 'Write a notice', '--detach', '--members'];

describe('finding U9: the worker’s own check judges agents, members and folders before the start', () => {
  it.each([
    [['start', 'Goal', '--agents', '/nope'], '- /nope:1: expected a directory with agent files'],
    [['start', 'Goal', '--workspace', '/nope'], '- workspace_dir: '],
    [[...team, 'nobody'], 'nobody'],
    [[...team, 'writer,writer'], 'writer'],
  ])('%j is refused with exit code 2', async (argv, fault) => {
    const { code, out, err, started } = await run(argv);
    expect({ code, out, started }).toEqual({ code: 2, out: '', started: [] });
    expect(err).toContain(fault);
    expect(err).toContain('--no-check');
  });

  it('an agent with an unknown tool is refused with file and line', async () => {
    const agents = join(makeFolder(), 'agents');
    mkdirSync(agents);
    const front = 'name: reader\ndescription: Reads\ntools: Frobnicate';
    writeFileSync(join(agents, 'reader.md'), `---\n${front}\n---\nRead it.\n`);
    const { code, err } = await run(['start', 'Goal', '--agents', agents]);
    expect(code).toBe(2);
    expect(err).toContain(`${join(agents, 'reader.md')}:4: unknown tool "Frobnicate"`);
  });

  it('what is right is started; what the worker sees elsewhere is left to it', async () => {
    expect(await run([...team, 'researcher,writer'])).toMatchObject({ code: 0, err: '' });
    const argv = ['start', 'Goal', '--agents', '/srv/agents'];
    expect((await run([...argv, '--no-check'])).started).toHaveLength(1);
    expect((await run(argv, 'temporal.example:7233')).started).toHaveLength(1);
  });
});

it.each([[['start', 'Goal']], [[...team, 'researcher,writer']]])(
  '%j with the id of a run that only the store remembers is refused before the start',
  async (argv) => {
    const { code, out, err, started } = await run([...argv, '--id', 'old']);
    expect({ code, out, started }).toEqual({ code: 2, out: '', started: [] });
    expect(err).toMatch(
      /^a run "old" exists already in this store, .*; nothing was started\. Try: .* watch old, .* status old, or another --id; .*--no-check\n$/,
    );
    expect((await run([...argv, '--id', 'new'])).started).toHaveLength(1);
    expect((await run([...argv, '--id', 'old', '--no-check'])).started).toHaveLength(1);
    // A far server may have another store.
    expect((await run([...argv, '--id', 'old'], 'temporal.example:7233')).started).toHaveLength(1);
  },
);

async function away(): Promise<never> {
  throw new Error('no database');
}

it('an id is started where the store can not be read; a new store is not asked', async () => {
  const stores: readonly Partial<CliDeps>[] = [
    { findStore: away, readStoredStatus },
    { readStoredStatus: away },
    { findStore: async () => null, readStoredStatus },
  ];
  for (const store of stores) {
    // oxlint-disable-next-line no-await-in-loop
    const { code, started } = await run(['start', 'Goal', '--id', 'old'], here, store);
    expect({ code, started }).toMatchObject({ code: 0, started: [{}] });
  }
});

it('a command that works knows the version, such as for the chat clients of mcp serve', () => {
  expect(createCliDeps(settings, here).version).toMatch(/^\d+\.\d+\.\d+/);
});
