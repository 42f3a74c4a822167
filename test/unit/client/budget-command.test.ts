import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { createCliBudgets } from '../../../scripts/cli-stores.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'planwave-budgets-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** On the real budgets of the home. */
async function run(line: string, client: Partial<PlanwaveClient> = {}) {
  const io = createFakeIo();
  const budgets = createCliBudgets(home, {});
  const code = await runCli(line.split(' '), createFakeDeps(io, client, { budgets }));
  return { code, out: io.out(), err: io.err() };
}

/** A client of a server that does not answer. */
const away: Partial<PlanwaveClient> = {
  resumeParked: () =>
    Promise.reject(new PlanwaveClientError('unreachable', 'No server. Try: start one')),
};

const end = /The day ends \d{4}-\d\d-\d\d 00:00 UTC\.\n/;

it('sets a budget, shows and lists it, and removes it', async () => {
  expect((await run('budget list')).out).toBe(
    'No tenant has a budget. Try: npm run planwave -- budget set acme --usd-per-day 50\n',
  );
  const set = await run('budget set acme --usd-per-day 50');
  expect(set).toMatchObject({ code: 0, err: '' });
  expect(set.out).toMatch(/^acme: \$0\.00 of \$50\.00 spent today\. The day ends/);
  expect(set.out).toMatch(end);
  expect((await run('budget set acme --usd-per-day 0.5')).out).toContain('of $0.50');
  expect((await run('budget show acme')).out).toMatch(end);
  expect(JSON.parse((await run('budget list --json')).out)).toEqual({
    budgets: [
      {
        tenant: 'acme',
        limit_micro_usd: 500_000,
        spent_micro_usd: 0,
        reserved_micro_usd: 0,
        ends_at: expect.any(Number),
      },
    ],
  });
  expect((await run('budget list')).out).toBe(
    'tenant  a day (UTC)  spent today  reserved\nacme    $0.50        $0.00        $0.00\n',
  );
  expect(await run('budget remove acme')).toEqual({
    code: 0,
    out: 'The budget of acme was removed: its calls have no limit.\n',
    err: '',
  });
  for (const line of ['budget show acme', 'budget remove acme']) {
    // oxlint-disable-next-line no-await-in-loop
    expect(await run(line)).toMatchObject({
      code: 4,
      err: expect.stringContaining(
        'The tenant acme has no budget, so its calls have no limit. Try:',
      ),
    });
  }
});

it('a new limit and a removed one let the parked runs of the tenant go on', async () => {
  const asked: string[] = [];
  const resumeParked = async (tenant: string) => {
    asked.push(tenant);
    return ['run-1', 'run-2'];
  };
  const told = '2 parked runs told to go on: "run-1", "run-2".\n';
  expect((await run('budget set acme --usd-per-day 50', { resumeParked })).out).toContain(told);
  expect((await run('budget remove acme', { resumeParked })).out).toContain(told);
  expect(asked).toEqual(['acme', 'acme']);
});

it('sets the limit also while the server is away, and says when runs go on', async () => {
  const { code, out } = await run('budget set acme --usd-per-day 50', away);
  expect(code).toBe(0);
  expect(out).toContain(
    'go on by themselves within an hour, or after npm run planwave -- resume <run>',
  );
  expect(out).toContain('No server. Try: start one');
  expect((await run('budget show acme')).out).toContain('of $50.00');
});

it.each([
  ['budget set acme --usd-per-day 0', 'Expected a number above 0'],
  ['budget set acme --usd-per-day 1000001', 'at most 1,000,000 US dollars'],
  ['budget set acme', '--usd-per-day'],
  ['budget set a/b --usd-per-day 5', '"a/b" is no tenant: expected 1 to 64 letters'],
  ['budget show a/b', '"a/b" is no tenant'],
  ['budget remove a/b', '"a/b" is no tenant'],
])('refuses %s with what was expected', async (line, expected) => {
  const { code, err } = await run(line);
  expect(code).toBe(2);
  expect(err).toContain(expected);
});
