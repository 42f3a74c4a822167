import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { ensureTemporal, type TemporalServer } from '../../../scripts/dev-server/dev-server.ts';
import {
  connectTo,
  findFreePort,
  isListening,
} from '../../../scripts/dev-server/temporal-probe.ts';
import type { Settings } from '../../../scripts/parts/settings.ts';
import { eventually } from '../../support/eventually.ts';
import { makeFolder } from '../../unit/scripts/fake-executables.ts';

/** Fetching the CLI may come first. */
const started: TemporalServer[] = [];

afterEach(async () => {
  for (const server of started.splice(0)) await server.part?.stop(20_000);
});

async function makeSettings(): Promise<Settings> {
  return {
    home: join(makeFolder(), '.planning'),
    temporalAddressGiven: undefined,
    temporalPort: await findFreePort(),
    uiPort: await findFreePort(),
    webUi: true,
    rehearsalPort: await findFreePort(),
    needsRehearsal: true,
  };
}

async function ensure(settings: Settings): Promise<{ server: TemporalServer; said: string }> {
  const said: string[] = [];
  const server = await ensureTemporal({ settings, say: (line) => said.push(line) });
  started.push(server);
  return { server, said: said.join('\n') };
}

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await connectTo(address);
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

it('keeps its workflows through kill -9', async () => {
  const settings = await makeSettings();
  const { server } = await ensure(settings);
  await withClient(server.address, (client) =>
    client.workflow.start('plannerRun', { taskQueue: 'nobody', workflowId: 'kept' }),
  );
  server.part?.kill();
  expect(await server.part?.ended).toBe('SIGKILL');
  const { server: again } = await ensure(settings);
  expect(again.part).toBeDefined();
  const description = await withClient(again.address, (client) =>
    client.workflow.getHandle('kept').describe(),
  );
  expect(description.status.name).toBe('RUNNING');
});

it('finding T3: no web page starts a run through its HTTP API; only its user reads its folder (T9)', async () => {
  const settings = await makeSettings();
  const httpPort = await findFreePort();
  const extraArguments = [`--http-port=${httpPort}`];
  started.push(await ensureTemporal({ settings, say: () => {}, extraArguments }));
  await eventually('the HTTP API', () => isListening('127.0.0.1', httpPort));
  const response = await fetch(
    `http://127.0.0.1:${httpPort}/api/v1/namespaces/default/workflows/forged`,
    {
      method: 'POST',
      // A request that a browser sends to any address without asking first.
      headers: { 'content-type': 'text/plain', origin: 'http://evil.example' },
      body: JSON.stringify({
        workflowType: { name: 'plannerRun' },
        taskQueue: { name: 'planwave' },
      }),
    },
  );
  expect(response.status).toBe(403);
  expect(statSync(settings.home).mode & 0o077).toBe(0);
});

it('finding T3: PLANWAVE_WEB_UI=off opens no port that a web page could use by rebinding', async () => {
  const settings = { ...(await makeSettings()), webUi: false };
  const { server } = await ensure(settings);
  expect(server.uiUrl).toBeUndefined();
  await expect(fetch(`http://127.0.0.1:${settings.uiPort}`)).rejects.toThrow('fetch failed');
  const shown = await makeSettings();
  const { server: withUi } = await ensure(shown);
  // It is served beside the server, which may be ready before.
  await eventually('the Web UI', () => isListening('127.0.0.1', shown.uiPort));
  expect((await fetch(withUi.uiUrl ?? '')).status).toBe(200);
});

describe('a server that runs already', () => {
  let settings: Settings;
  let server: TemporalServer;

  beforeAll(async () => {
    settings = await makeSettings();
    server = await ensureTemporal({ settings, say: () => {} });
  });
  afterAll(() => server.part?.stop(20_000));

  it('has the search attributes, so that a run can use them', async () => {
    const known = await withClient(server.address, (client) =>
      client.connection.operatorService.listSearchAttributes({ namespace: 'default' }),
    );
    expect(Object.keys(known.customAttributes)).toEqual(
      expect.arrayContaining(['PlanwavePhase', 'PlanwaveWave', 'PlanwaveCostUsd']),
    );
  });

  it('of the same home is reused, also when another port is asked for', async () => {
    const second = await ensure(settings);
    expect(second.server).toEqual({ ...server, part: undefined, restart: undefined });
    expect(second.said).toContain("Reusing this home's Temporal dev server");
    const elsewhere = await ensure({ ...settings, temporalPort: await findFreePort() });
    expect(elsewhere.server.address).toBe(server.address);
  });

  it('finding U4: of another home is refused, and joined only by its address', async () => {
    const second = { ...settings, home: join(makeFolder(), '.planning') };
    const refused = await ensure(second).catch((error: Error) => error.message);
    expect(refused).toContain(`belongs to another home, ${settings.home}, not to ${second.home}`);
    expect(refused).toContain(`PLANWAVE_TEMPORAL_PORT=${settings.temporalPort + 100}`);
    expect(refused).toContain(`TEMPORAL_ADDRESS=${server.address} PLANWAVE_TASK_QUEUE=`);
    // Nothing of the other home was touched.
    expect(existsSync(second.home)).toBe(false);
    const joined = await ensure({ ...second, temporalAddressGiven: server.address });
    expect(joined.server).toMatchObject({ address: server.address, part: undefined });
  });

  it('is used by the address that the environment names', async () => {
    const named = { ...(await makeSettings()), temporalAddressGiven: server.address };
    const { server: used, said } = await ensure(named);
    expect(used).toMatchObject({ address: server.address, part: undefined });
    expect(said).toContain('which the environment names');
  });
});

it('two commands at once in one home start one server', async () => {
  const settings = await makeSettings();
  const both = await Promise.all([ensure(settings), ensure(settings)]);
  expect(both.filter(({ server }) => server.part !== undefined)).toHaveLength(1);
});

// They wait for answers that never come, all at the same time. None has a server: the end of any test stops all there are.
describe.concurrent('what stands in the way is named', () => {
  it.each([
    ['temporalPort', 'PLANWAVE_TEMPORAL_PORT'],
    ['uiPort', 'PLANWAVE_UI_PORT'],
  ] as const)('%s held by something else', async (setting, variable) => {
    const port = await findFreePort();
    const listener = createServer((socket) => {
      // Whoever asked hangs up when the answer makes no sense.
      socket.on('error', () => {}).end('not Temporal');
    }).listen(port, '127.0.0.1');
    await once(listener, 'listening');
    try {
      const settings = { ...(await makeSettings()), [setting]: port };
      await expect(ensure(settings)).rejects.toThrow(
        new RegExp(`Port ${port}, .*is taken by process ${process.pid}.*${variable}=`, 's'),
      );
    } finally {
      listener.close();
    }
  });

  it('no server at the address of the environment', async () => {
    const address = `127.0.0.1:${await findFreePort()}`;
    const settings = { ...(await makeSettings()), temporalAddressGiven: address };
    await expect(ensure(settings)).rejects.toThrow(`${address}, but no Temporal server answers`);
  });

  it('a start that fails, with the end of the log', async () => {
    const settings = await makeSettings();
    const starting = ensureTemporal({
      settings,
      say: () => {},
      extraArguments: ['--no-such-option'],
    });
    await expect(starting).rejects.toThrow(
      /did not start: it ended \(exit code 1\).*unknown flag: --no-such-option/s,
    );
  });
});

it('what stands in the way is named: the server of another home whose port is 1,000 away', async () => {
  const first = await makeSettings();
  const settings = { ...first, uiPort: first.temporalPort + 1_000 };
  expect((await ensure(settings)).server.part).toBeDefined();
  await eventually('the Web UI', () => isListening('127.0.0.1', settings.uiPort));
  const above = { ...(await makeSettings()), temporalPort: settings.uiPort };
  await expect(ensure(above)).rejects.toThrow(
    new RegExp(
      `Port ${above.temporalPort}, wanted for the Temporal dev server, is taken by .*, which shows its Web UI there\\..*PLANWAVE_TEMPORAL_PORT=\\d+`,
      's',
    ),
  );
  const below = { ...(await makeSettings()), uiPort: settings.temporalPort };
  await expect(ensure(below)).rejects.toThrow(
    new RegExp(
      `Port ${below.uiPort}, wanted for the Temporal Web UI, is taken by .*, which serves workers there\\..*PLANWAVE_UI_PORT=\\d+`,
      's',
    ),
  );
});
