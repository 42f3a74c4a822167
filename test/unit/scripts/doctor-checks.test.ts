import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSettings } from '../../../scripts/check-settings.ts';
import {
  checkCommands,
  checkModel,
  checkThreads,
  createDoctorChecks,
} from '../../../scripts/doctor-checks.ts';
import { readSettings } from '../../../scripts/parts/settings.ts';
import { describeMissing, openCommands } from '../../../worker/open-commands.ts';
import { readCommandSettings } from '../../../worker/worker-settings.ts';

it('doctor knows every tool that the shipped agents name', async () => {
  const checks = createDoctorChecks(readSettings({}));
  const finding = await checks.find(({ name }) => name === 'Agents')?.run();
  expect(finding).toEqual({ ok: true, detail: expect.stringContaining('engineer') });
});

async function settingsBy(env: Record<string, string>): Promise<string | undefined> {
  const checks = createDoctorChecks(readSettings(env));
  return (await checks.find(({ name }) => name === 'Settings')?.run())?.detail;
}

it('doctor names ports only where planwave starts the server itself', async () => {
  expect(await settingsBy({})).toContain('ports: server 7233');
  const given = await settingsBy({ TEMPORAL_ADDRESS: '127.0.0.1:7411' });
  expect(given).toMatch(/; TEMPORAL_ADDRESS 127\.0\.0\.1:7411$/);
});

it('doctor names a setting with which no worker starts, with and without a model', async () => {
  const settings = readSettings({});
  const wrong = { PLANWAVE_WEB: 'of' };
  const finding = { ok: false, detail: expect.stringContaining("PLANWAVE_WEB can't be used") };
  expect(checkSettings(settings, wrong)).toMatchObject(finding);
  expect(checkSettings(settings, { ...wrong, ANTHROPIC_API_KEY: 'sk-ant-1' })).toMatchObject(
    finding,
  );
  expect(checkSettings(settings, {}).ok).toBe(true);
  const { detail } = await checkModel({ ...wrong, ANTHROPIC_API_KEY: 'sk-ant-1' });
  expect(detail).not.toContain('no ANTHROPIC_API_KEY');
});

it.each(['', '/', '/anthropic', '/anthropic/'])(
  'doctor asks the model API below the path of its address, "%s"',
  async (path) => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ url }, response) => {
      asked.push(url);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = Object(server.address());
    const ANTHROPIC_BASE_URL = `http://127.0.0.1:${port}${path}`;
    expect(await checkModel({ ANTHROPIC_BASE_URL })).toMatchObject({ ok: true });
    expect(asked).toEqual([`${path.replace(/\/$/, '')}/v1/models?limit=1`]);
    await new Promise((closed) => server.close(closed));
  },
);

it('doctor says of commands what a worker here says: the cause and the cure, or that they run unconfined', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '';
  try {
    const { run_command: missing = '' } = describeMissing(
      await openCommands(readCommandSettings({})),
    );
    const [cause = '', cure = ''] = missing.split('. Try: ');
    expect(cure).toBe('apt install bubblewrap');
    const { ok, detail } = await checkCommands({});
    expect(ok).toBe(true);
    expect(detail).toContain(`are refused: ${cause}. Cure: ${cure}`);
    const unconfined = await checkCommands({ PLANWAVE_UNCONFINED_COMMANDS: '1' });
    expect(unconfined.detail).toContain('unconfined');
    expect(unconfined.detail).toContain('each after an approval');
  } finally {
    process.env['PATH'] = path;
  }
});

describe('doctor looks at the threads of teams', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'planwave-doctor-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('which are not there before their first use', async () => {
    const detail = `${join(home, 'threads.db')}, made at its first use`;
    expect(await checkThreads(home, {})).toEqual({ ok: true, detail });
  });

  it('in a file that is there', async () => {
    const file = join(home, 'threads.db');
    writeFileSync(file, '');
    expect(await checkThreads(home, {})).toEqual({ ok: true, detail: `${file} can be read` });
    writeFileSync(file, 'no database '.repeat(500));
    const damaged = { ok: false, detail: expect.stringContaining('the file is damaged') };
    expect(await checkThreads(home, {})).toMatchObject(damaged);
  });

  it('in a database that is down, without its password', async () => {
    const env = { PLANWAVE_THREADS_URL: 'postgresql://planwave:hidden@127.0.0.1:1/threads' };
    const finding = await checkThreads(home, env);
    expect(finding).toMatchObject({ ok: false, cure: expect.any(String) });
    expect(finding.detail).toContain('postgresql://127.0.0.1:1/threads: no server listens there');
    expect(JSON.stringify(finding)).not.toContain('hidden');
  });

  it('at an address that is none', async () => {
    const finding = await checkThreads(home, { PLANWAVE_THREADS_URL: 'hidden' });
    expect(finding.ok).toBe(false);
    expect(finding.detail).toMatch(/^PLANWAVE_THREADS_URL can't be used: expected postgresql:/);
    expect(JSON.stringify(finding)).not.toContain('hidden');
  });
});
