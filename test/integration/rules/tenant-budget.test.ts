import { openStores } from '../../../activities/adapters/open-stores.ts';
import { createTenantBudgets } from '../../../activities/load/tenant-budgets.ts';
import { createCliBudgets } from '../../../scripts/cli-stores.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runAt } from '../../support/run-at.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import { useStage } from '../../support/use-stage.ts';

/** A model with a price, which the rehearsal plays. */
const settings = { isRehearsal: false, defaultModel: 'claude-sonnet-5-5' };
const times = { retryBaseMs: 50 };
const { stage } = useStage({ settings, times });

/** Another worker of the same store. */
let other: Stage;
beforeAll(async () => {
  const { home } = stage;
  other = await openStage({ beside: stage, settings: { ...settings, home }, times });
});
afterAll(() => other.close());

const budgets = () => createTenantBudgets(openStores({ home: stage.home }).shared);
const goal = 'Compare three ways to store a backup';
const run = (tenant: string) => stage.start('plannerRun', { goal, use_defaults: true, tenant });

it('two runs of a tenant stop at its limit together, lose nothing, and go on when it is raised', async () => {
  // A call's worst case is 200,000 and a run costs 55,000: neither can end while less than that is left.
  const limit = 240_000;
  await budgets().set('acme', limit);
  const runs = [await run('acme'), await run('acme')];
  const told = new Set<string>();
  for (const one of runs) {
    // oxlint-disable-next-line no-await-in-loop
    await eventually('a run parked by a used-up day', async () => {
      const { phase, parked_reason } = await stage.status(one);
      const reason = "The day's budget of the tenant acme is used up";
      return phase === 'parked' && parked_reason?.startsWith(reason);
    });
  }
  // Parallel calls of a run that has parked come to their end.
  const spent = await eventually('no call in progress', async () => {
    const read = await budgets().read('acme');
    return read?.reserved_micro_usd === 0 && read;
  });
  expect(spent.spent_micro_usd).toBeLessThanOrEqual(limit);
  expect(spent.spent_micro_usd).toBeGreaterThan(0);
  // Others work on meanwhile.
  expect(await stage.result(await run('umbrella'))).toMatchObject({ status: 'completed' });

  const env = { TEMPORAL_ADDRESS: stage.address, PLANWAVE_TASK_QUEUE: stage.taskQueue };
  const deps = { env, budgets: createCliBudgets(stage.home, {}) };
  const argv = ['budget', 'set', 'acme', '--usd-per-day', '50', '--json'];
  // The server lists a run a moment after it has parked; meanwhile its own check may have found the new limit.
  await eventually('both runs go on', async () => {
    const { out } = await runAt(stage.address, argv, { deps });
    const { resumed }: { readonly resumed: readonly string[] } = JSON.parse(out);
    for (const id of resumed) told.add(id);
    const phases = await Promise.all(runs.map(async (one) => (await stage.status(one)).phase));
    return runs.every(({ workflowId }, at) => told.has(workflowId) || phases[at] !== 'parked');
  });
  expect(runs.map(({ workflowId }) => workflowId)).toEqual(expect.arrayContaining([...told]));
  // By themselves they would look for another limit half a minute after they parked, or later.
  expect(told.size).toBeGreaterThan(0);
  const results = await Promise.all(runs.map((one) => stage.result(one)));
  expect(results.map(({ status }) => status)).toEqual(['completed', 'completed']);
  const billed = results.reduce((sum, { usage }) => sum + usage.cost_micro_usd, 0);
  expect(await budgets().read('acme')).toMatchObject({
    spent_micro_usd: billed,
    reserved_micro_usd: 0,
  });
  for (const one of runs) {
    // oxlint-disable-next-line no-await-in-loop
    await expectPromisesKept(stage, one.workflowId);
  }
});

it("a run that waits for its tenant's budget, and is flooded meanwhile, waits on in its next execution", async () => {
  await budgets().set('flooded', 1);
  const input = { goal, use_defaults: true, tenant: 'flooded', limits: { max_signals: 40 } };
  const before = await stage.start('plannerRun', input, 'parked-and-flooded');
  const current = stage.client.workflow.getHandle('parked-and-flooded');
  const parked = async () => (await stage.status(current)).phase === 'parked';
  await eventually('a run parked by a used-up day', parked);
  const { runId: execution } = await before.describe();
  for (let nth = 0; nth < 40; nth += 1) await before.signal('amend', { instruction: nth });
  await eventually('another execution', async () => {
    const { runId } = await current.describe();
    return runId !== execution;
  });
  expect(await parked()).toBe(true);
  const { events } = await current.fetchHistory();
  expect(events?.some((event) => event.timerStartedEventAttributes)).toBe(true);
  await budgets().set('flooded', 50_000_000);
  await current.signal('resume', {});
  expect(await stage.result(current)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, 'parked-and-flooded', { orphans: true });
});
