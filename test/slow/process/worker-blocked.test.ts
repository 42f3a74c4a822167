import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import type { StatusView } from '../../../contracts/views.ts';
import { countHeartbeatTimeouts, untilGivenUp } from '../../support/heartbeat-timeouts.ts';
import { callsOfRun, goal, outcomeOf, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { eventually } from '../../support/eventually.ts';
import { completed, held, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess, thisCheckout } from '../../support/worker-process.ts';
import type { Ending, ScriptProcess } from '../../support/worker-process.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const { stage } = useProcessStages();

const input = { goal, use_defaults: true, limits: { max_parallel: 1 } };

// A stack names the file that blocks, so these workers run from the sources.

const blocker = fileURLToPath(new URL('../../support/block-event-loop.mjs', import.meta.url));
const hanger = fileURLToPath(new URL('../../support/hang-on-pill.mjs', import.meta.url));

it('fault 6: a blocked event loop in a call: heartbeat timeout, next attempt, nothing applied twice', async () => {
  await stage.startWorker();
  const undisturbed = await stage.start('plannerRun', input);
  const outcome = await outcomeOf(stage, undisturbed);
  const n = callsOfRun(stage, undisturbed.workflowId).length;
  await stage.stopWorker();

  // The next attempt waits at the model too, so that whoever looks late still sees it.
  const call = held({ pass: true });
  stage.rehearsal.script(
    [4, 5].map((nth) => ({ match: { callKeyIncludes: 'blocked/', nth }, reply: call.reply })),
  );
  const worker = await startWorkerProcess(
    stage,
    {
      NODE_OPTIONS: `--import=${blocker}`,
      // Heartbeats may stop for 8 s.
      BLOCK_EVENT_LOOP_MS: '12000',
    },
    thisCheckout,
  );
  const run = await stage.start('plannerRun', input, 'blocked');
  const inFlight = await untilCall(stage, 'blocked', 4);
  worker.signal('SIGUSR2');
  await untilGivenUp(stage, inFlight);
  call.release();

  expect(await outcomeOf(stage, run)).toEqual(outcome);
  const calls = callsOfRun(stage, 'blocked').length;
  expect(calls).toBeGreaterThanOrEqual(n);
  expect(calls).toBeLessThanOrEqual(n + 1);
  // Whether both attempts bought a reply or one, it counts once: the other told nobody.
  const { usage } = await stage.result(run);
  expect(usage.calls).toBe(n);
  const histories = await expectPromisesKept(stage, 'blocked', { orphans: true });
  // The fault fired.
  expect(countHeartbeatTimeouts(histories)).toBeGreaterThanOrEqual(1);
  // The worker that lived through it still serves.
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
});

const watched = { PLANWAVE_BLOCKED_SECONDS: '6', PLANWAVE_LOG: 'json' };

/** Reads the watchdog's last log line before it ended the process. */
function readLastLine(worker: ScriptProcess): Readonly<Record<string, unknown>> {
  const lines = worker.output().split('\n');
  return JSON.parse(lines.findLast((line) => line.includes('stood still')) ?? '{}');
}

/** Workers that are started again when they die, as a supervisor does. */
async function superviseWorkers(count: number, env: Readonly<Record<string, string>>) {
  const dead: { readonly ending: Ending; readonly last: Readonly<Record<string, unknown>> }[] = [];
  let isOver = false;
  const alive = new Set<ScriptProcess>();
  const replaceWhenDead = async (worker: ScriptProcess): Promise<void> => {
    const ending = await worker.ended;
    alive.delete(worker);
    if (isOver) return;
    dead.push({ ending, last: readLastLine(worker) });
    await keepOne();
  };
  const starting = new Set<Promise<ScriptProcess>>();
  const keepOne = async (): Promise<void> => {
    const start = startWorkerProcess(stage, env, thisCheckout);
    starting.add(start);
    const worker = await start;
    starting.delete(start);
    alive.add(worker);
    void replaceWhenDead(worker);
  };
  await Promise.all(Array.from({ length: count }, keepOne));
  return {
    dead,
    async stop() {
      isOver = true;
      await Promise.all(starting);
      for (const worker of alive) worker.signal('SIGTERM');
      await Promise.all([...alive].map(({ ended }) => ended));
    },
  };
}

/** Its worker dies again and again meanwhile, and answers no query then. */
function untilParked(run: WorkflowHandle): Promise<StatusView> {
  return eventually(`${run.workflowId} is parked`, async () => {
    const status = await stage.status(run).catch(() => null);
    return status?.phase === 'parked' && status;
  });
}

it('finding T1: a reply that blocks every worker costs three restarts and parks its run, and no other', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: { ...completed('host-done'), compact_md: 'PILL-OF-TOMORROW npm_' } }),
  ]);
  const workers = await superviseWorkers(2, {
    ...watched,
    NODE_OPTIONS: `--import=${hanger}`,
  });
  const run = await stage.start('plannerRun', { goal: 'Host the backup' }, 'pill');
  const parked = await untilParked(run);
  expect(parked.parked_reason).toMatch(
    /^modelTurn of pill\/wave-001\/host blocked 3 workers, which had to be ended, in .*hang-on-pill\.mjs.*Try: .*resume; or stop$/,
  );
  expect(workers.dead).toHaveLength(3);
  for (const [index, { ending, last }] of workers.dead.entries()) {
    expect(ending).toBe('SIGKILL');
    expect(last).toMatchObject({
      level: 'error',
      message: 'the event loop stood still for 6 s: this worker ends',
      run: 'pill',
      activityType: 'modelTurn',
      attempt: index + 1,
      stack: expect.stringContaining('matchAllOrHang'),
    });
  }
  const bought = callsOfRun(stage, 'pill').length;
  stage.rehearsal.script([]);
  const other = await stage.start('plannerRun', input);
  expect((await stage.result(other)).status).toBe('completed');
  await workers.stop();

  await stage.startWorker();
  stage.rehearsal.script([works('host', { json: completed('host-done') })]);
  await run.signal('resume');
  expect((await stage.result(run)).status).toBe('completed');
  expect(callsOfRun(stage, 'pill').length).toBe(bought + 2);
  await expectPromisesKept(stage, 'pill', { orphans: true, refusedTasks: true });
});

it('finding T1: a tool that blocks every worker after its effect parks the run, and has acted once', async () => {
  const agents_dir = provideWritingAgent(stage.home, 'builder');
  const tool_use = [{ name: 'write_file', input: { path: 'npm_plan.md', content: 'The plan.' } }];
  stage.rehearsal.script([
    works('build', { tool_use }, 1),
    works('build', { json: { ...completed('build-done'), effects_claimed: ['npm_plan.md'] } }),
  ]);
  const workers = await superviseWorkers(1, {
    ...watched,
    NODE_OPTIONS: `--import=${hanger}`,
    HANG_ON: '"npm_plan.md" is written',
    HANG_BY: 'waiting',
  });
  const delegations = [work('build', { agent_id: 'builder' })];
  const run = await stage.start(
    'plannerWave',
    { goal: 'Write it', agents_dir, delegations },
    'tool',
  );
  const parked = await untilParked(run);
  expect(parked.parked_reason).toMatch(/^runTool of tool\/build blocked 3 workers/);
  expect(workers.dead.map(({ last }) => last['activityType'])).toEqual(
    Array.from({ length: 3 }, () => 'runTool'),
  );
  await workers.stop();
  const file = join(stage.home, 'tool', 'workspace', 'npm_plan.md');
  const { mtimeMs } = statSync(file);

  await stage.startWorker();
  await run.signal('resume');
  await run.result();
  expect(statSync(file).mtimeMs).toBe(mtimeMs);
  expect((await storedRecord(stage.home, 'tool')).effects).toMatchObject([{ state: 'confirmed' }]);
  await expectPromisesKept(stage, 'tool', { orphans: true, refusedTasks: true });
});

it('finding T1: a block outside of every activity ends the worker too, with the code that blocks', async () => {
  const worker = await startWorkerProcess(
    stage,
    {
      ...watched,
      NODE_OPTIONS: `--import=${blocker}`,
      BLOCK_EVENT_LOOP_MS: '60000',
    },
    thisCheckout,
  );
  worker.signal('SIGUSR2');
  expect(await worker.ended).toBe('SIGKILL');
  const last = readLastLine(worker);
  expect(last['stack']).toContain('block-event-loop.mjs');
  expect(last).not.toHaveProperty('activityType');
});

it('finding T1: a worker that was suspended, or slow for less than the limit, goes on', async () => {
  const worker = await startWorkerProcess(
    stage,
    {
      ...watched,
      PLANWAVE_BLOCKED_SECONDS: '10',
      NODE_OPTIONS: `--import=${blocker}`,
      BLOCK_EVENT_LOOP_MS: '3000',
    },
    thisCheckout,
  );
  worker.signal('SIGUSR2');
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  worker.signal('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  worker.signal('SIGCONT');
  const run = await stage.start('plannerRun', input);
  expect((await stage.result(run)).status).toBe('completed');
  expect(worker.output()).not.toContain('stood still');
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe('exit code 0');
});
