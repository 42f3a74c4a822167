import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkThreads, createDoctorChecks } from '../../../scripts/doctor-checks.ts';
import { readSettings } from '../../../scripts/parts/settings.ts';

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
