import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { createTenantBudgets } from '../../../activities/load/tenant-budgets.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchHistories, listTimers } from '../../support/histories.ts';
import { goal, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess, thisCheckout } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

const minute = 60_000;
const faultPoints = pathToFileURL(join(thisCheckout, 'test/support/fault-points.mjs')).href;
/** Until its worker is killed: no test waits that long. */
const hangs = { pass: true, delayMs: 10 * minute } as const;
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };
const acme = { fairnessKey: 'acme' };

/** No day may end within a test. */
const beside = new Date().getUTCHours() === 23 ? -120 * minute : 0;
const now = (): number => Date.now() + beside;
const budgets = () => createTenantBudgets(openStores({ home: stage.home }).shared, now);

async function readDay() {
  const day = await budgets().read('acme');
  return { spent: day?.spent_micro_usd ?? 0, reserved: day?.reserved_micro_usd ?? 0 };
}

/** Starts a worker whose model has a price and whose clock is so many milliseconds ahead. */
function startPaying(aheadMs = 0) {
  return startWorkerProcess(stage, {
    ANTHROPIC_API_KEY: 'not-the-key-of-the-rehearsal',
    PLANWAVE_MODEL: 'claude-sonnet-5-5',
    NODE_OPTIONS: `--import=${faultPoints}`,
    CLOCK_OFFSET_MS: String(beside + aheadMs),
  });
}

/** Plays one call of the tenant whose worker is killed within it. Returns what it had reserved. */
async function killInCall(id: string) {
  const before = await readDay();
  const worker = await startPaying();
  const run = await stage.start('delegation', task, id, acme);
  await untilCall(stage, id, 1);
  const { reserved } = await eventually('a reservation', async () => {
    const day = await readDay();
    return day.reserved > before.reserved && day;
  });
  worker.signal('SIGKILL');
  expect(await worker.ended).toBe('SIGKILL');
  // The model may have been paid already, and nobody has said so.
  expect(await readDay()).toEqual({ spent: before.spent, reserved });
  return { run, lost: reserved - before.reserved };
}

it('DU2, LT1: kill -9 inside a call: the next attempt charges the reservation, and the day never shows less', async () => {
  await budgets().set('acme', 50_000_000);
  const undisturbed = await startPaying();
  const { usage } = await stage.result(await stage.start('delegation', task, 'quiet', acme));
  expect(usage.cost_micro_usd).toBeGreaterThan(0);
  expect(await readDay()).toEqual({ spent: usage.cost_micro_usd, reserved: 0 });
  undisturbed.signal('SIGKILL');
  await undisturbed.ended;

  stage.rehearsal.script([{ match: { callKeyIncludes: 'first/', nth: 1 }, reply: hangs }]);
  const { run, lost } = await killInCall('first');
  await startPaying();
  const ended = stage.result(run);
  const shown: number[] = [];
  const watch = { isOver: false };
  const watching = (async () => {
    while (!watch.isOver) {
      // oxlint-disable-next-line no-await-in-loop
      const { spent, reserved } = await readDay();
      shown.push(spent + reserved);
      // oxlint-disable-next-line no-await-in-loop
      await sleep(5);
    }
  })();
  const result = await ended;
  watch.isOver = true;
  await watching;

  expect(result).toMatchObject({ status: 'completed' });
  expect(Math.min(...shown)).toBeGreaterThanOrEqual(usage.cost_micro_usd + lost);
  expect(await readDay()).toEqual({
    spent: usage.cost_micro_usd + lost + result.usage.cost_micro_usd,
    reserved: 0,
  });
  await expectPromisesKept(stage, run.workflowId, { orphans: true });
});

it('DU2: kill -9 inside a call that nobody makes again: another call charges its reservation in the end', async () => {
  await budgets().set('acme', 50_000_000);
  stage.rehearsal.script([{ match: { callKeyIncludes: 'given-up/', nth: 1 }, reply: hangs }]);
  const { run, lost } = await killInCall('given-up');
  await run.terminate();

  const soon = await startPaying();
  const first = await stage.result(await stage.start('delegation', task, 'soon', acme));
  expect(await readDay()).toEqual({ spent: first.usage.cost_micro_usd, reserved: lost });
  soon.signal('SIGKILL');
  await soon.ended;

  await startPaying(26 * minute);
  const second = await stage.result(await stage.start('delegation', task, 'later', acme));
  expect(await readDay()).toEqual({
    spent: lost + first.usage.cost_micro_usd + second.usage.cost_micro_usd,
    reserved: 0,
  });
});

it('DU6: a run that parked while its limit was raised goes on by itself, long before an hour is over', async () => {
  // Too little for the first call.
  await budgets().set('acme', 100_000);
  // A clock that is behind would make the waits shorter.
  await startPaying(-beside);
  const run = await stage.start('plannerRun', { goal, use_defaults: true, tenant: 'acme' });
  await eventually('a parked run', async () => (await stage.status(run)).phase === 'parked');
  // As `budget set` does, but for the runs that it tells.
  await budgets().set('acme', 50_000_000);
  await eventually('work', async () => (await stage.status(run)).phase !== 'parked', 10 * minute);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [own] = await fetchHistories(stage.client, run.workflowId);
  const timers = listTimers(own === undefined ? [] : [own]);
  expect(timers.filter(({ summary }) => summary === 'the run goes on')).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
}, 720_000);
