import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliSession } from '../../../client/cli/cli-session.ts';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { StoreIdentity } from '../../../contracts/store.ts';
import { nameWorker } from '../../../core/run/run-place.ts';
import { createCliBudgets } from '../../../scripts/cli-stores.ts';
import { createFakeClient, createFakeDeps } from './support/fake-client.ts';
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

/** A shell with this store; null: with a new home. @param stores Those of the workers that poll. */
async function runWith(line: string, store: StoreIdentity | null, stores: readonly string[]) {
  const io = createFakeIo();
  const seconds = Math.floor(Date.now() / 1_000) - 10;
  const pollers = stores.map((id) => ({
    identity: nameWorker('7@host-b', { id, place: '' }),
    lastAccessTime: { seconds },
  }));
  const session: CliSession = Object.create(null);
  Object.assign(session, {
    address: 'localhost:7233',
    namespace: 'default',
    client: createFakeClient(),
    connection: {
      withDeadline: (_deadline: number, work: () => unknown) => work(),
      workflowService: { describeTaskQueue: async () => ({ pollers }) },
    },
    close: () => Promise.resolve(),
  });
  const deps = createFakeDeps(
    io,
    {},
    {
      budgets: createCliBudgets(home, {}),
      findStore: async () => store,
      openSession: async () => session,
    },
  );
  const code = await runCli(line.split(' '), deps);
  return { code, out: io.out(), err: io.err() };
}

describe('the store of the workers', () => {
  const own = { id: 'ab12', place: '"/srv/planwave" on host-a' };

  it.each(['budget set acme --usd-per-day 5', 'budget remove acme'])(
    '%s: another one than that of this shell is refused, and nothing is changed',
    async (line) => {
      await run('budget set acme --usd-per-day 50');
      const refused = await runWith(line, own, ['cd34']);
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toContain(
        'The workers of the task queue planwave have the store cd34, and this shell has the store ab12 ("/srv/planwave" on host-a).',
      );
      expect(refused.err).toContain('Try: set PLANWAVE_HOME and PLANWAVE_STORE_URL');
      expect((await runWith(line, null, ['cd34'])).err).toContain('the home of this shell is new');
      expect((await run('budget show acme')).out).toContain('of $50.00');
    },
  );

  it.each(['budget show acme', 'budget list'])(
    '%s: another one than that of this shell is named where no budget is found, and nothing is made',
    async (line) => {
      const elsewhere = 'have the store cd34, and this shell has the store ab12';
      const { out, err } = await runWith(line, own, ['cd34']);
      expect(out + err).toContain(elsewhere);
      expect(out + err).toContain('Try: set PLANWAVE_HOME and PLANWAVE_STORE_URL');
      expect(out + err).not.toContain('no limit');
      const same = await runWith(line, own, ['ab12', 'cd34']);
      expect(same.out + same.err).toContain('--usd-per-day 50');
      expect(readdirSync(home)).toEqual([]);
    },
  );

  it.each(['budget show acme', 'budget list'])(
    '%s: another one than that of this shell is named beside the budget that is found',
    async (line) => {
      await run('budget set acme --usd-per-day 50');
      const { code, out } = await runWith(line, own, ['cd34']);
      expect(code).toBe(0);
      expect(out).toContain('$50.00');
      expect(out).toContain('have the store cd34, and this shell has the store ab12');
      expect(out).toContain('A budget here limits none of their calls.');
      const note = expect.stringContaining('have the store cd34');
      expect(JSON.parse((await runWith(`${line} --json`, own, ['cd34'])).out)).toMatchObject({
        note,
      });
      expect((await runWith(line, own, ['ab12'])).out).not.toContain('store');
    },
  );

  it('the same one is named, and without a worker that tells it what has to be so', async () => {
    const line = 'budget set acme --usd-per-day 5';
    const set = await runWith(line, own, ['ab12']);
    expect(set).toMatchObject({ code: 0, err: '' });
    expect(set.out).toContain(
      '\nThe budget is kept in the store ab12 ("/srv/planwave" on host-a).\n',
    );
    expect((await runWith(line, own, [])).out).toContain(
      'No worker of the task queue planwave has told its store: theirs must be the same.',
    );
  });
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
