import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { copyStores } from '../../../activities/adapters/copy-stores.ts';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { ensurePostgres } from '../../../scripts/bootstrap/test-programs.mjs';
import { readStoreSettings } from '../../../worker/worker-settings.ts';
import { startCluster } from '../../cluster/cluster.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { cpuSecondsOf, startClusterWorker } from '../../cluster/cluster-workers.ts';
import type { ClusterWorker } from '../../cluster/cluster-workers.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { executeSql } from '../../support/database-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { goal, inFlight, openProcessStage, outcomeOf } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import type { Stage } from '../../support/stage.ts';
import { untilIdle } from '../../support/until-idle.ts';

/**
 * Three workers with separate homes on a Temporal server with PostgreSQL and a bucket. `npm run cluster` builds the servers. The
 * tests take a quarter of an hour, most of it waiting, so they run only where they are asked for. The figures that they print are
 * those of docs/production.md.
 */

const missing = [findPrograms('temporal'), findPrograms('objects')].flatMap((one) =>
  one.folder === null ? [one.missing] : [],
);
if (process.env['PLANWAVE_TEST_CLUSTER'] !== '1') {
  missing.push('Try: PLANWAVE_TEST_CLUSTER=1 npm run test:slow -- test/slow/cluster');
}
if (missing.length > 0) console.warn(`The cluster is not tested. ${missing.join('\n')}`);

const minutes = 60_000;
const databases = ['planwave', 'temporal', 'temporal_visibility'];
let cluster: Cluster;
let stage: Stage;
let workers: ClusterWorker[];
const runIds: string[] = [];

(missing.length > 0 ? describe.skip : describe)('three workers and one cluster', () => {
  beforeAll(async () => {
    cluster = await startCluster(findPrograms);
    stage = await openProcessStage({ address: cluster.server?.address ?? '', thinkMs: 100 });
    workers = [];
    for (const name of ['one', 'two', 'three']) {
      workers.push(await startClusterWorker(cluster, stage, name));
    }
  }, 5 * minutes);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()));
    await stage.close();
    await cluster.stop();
  }, minutes);

  share();
  faults();
  promises();
  restored();
});

/** Starts runs that take the defaults for answers. */
async function startRuns(name: string, count: number): Promise<readonly WorkflowHandle[]> {
  const ids = Array.from({ length: count }, (_, nth) => `${name}-${nth}`);
  runIds.push(...ids);
  const input = { goal, use_defaults: true };
  return Promise.all(ids.map((id) => stage.start('plannerRun', input, id)));
}

/** Returns the workers, by their process ids, that have carried out activities of runs or of their first waves. */
async function listPids(runs: readonly WorkflowHandle[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const run of runs) {
    const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
    const histories = await Promise.all([run.fetchHistory(), wave.fetchHistory()]);
    for (const event of histories.flatMap(({ events }) => events ?? [])) {
      const identity = event.activityTaskStartedEventAttributes?.identity;
      if (identity) found.add(identity.split('@', 1)[0] ?? '');
    }
  }
  return found;
}

function measureCpu(): readonly { readonly name: string; readonly seconds: number }[] {
  const parts = { server: cluster.server, PostgreSQL: cluster.postgres, S3: cluster.objects };
  const ofParts = Object.entries(parts).map(([name, part]) => ({
    name,
    seconds: cpuSecondsOf(part?.pid() ?? -1),
  }));
  const ofWorkers = workers.map((worker) => cpuSecondsOf(worker.process().pid));
  return [...ofParts, { name: 'workers', seconds: ofWorkers.reduce((a, b) => a + b, 0) }];
}

function share(): void {
  it(
    'share 40 runs that are started together, and each of them takes part',
    async () => {
      const before = measureCpu();
      const beganAt = Date.now();
      const runs = await startRuns('many', 40);
      const results = await Promise.all(runs.map((run) => stage.result(run)));
      const seconds = (Date.now() - beganAt) / 1_000;
      expect(results.map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
      expect(await listPids(runs)).toEqual(
        new Set(workers.map((worker) => String(worker.process().pid))),
      );
      const perRun = measureCpu().map(({ name, seconds: used }, nth) => {
        const each = (used - (before[nth]?.seconds ?? 0)) / runs.length;
        return `${name} ${each.toFixed(2)} s`;
      });
      console.log(`40 runs in ${seconds} s; CPU of a run: ${perRun.join(', ')}`);
    },
    15 * minutes,
  );
}

/** A fault, and how it is healed. */
interface Fault {
  readonly name: string;
  readonly strike: () => Promise<unknown>;
  /** Milliseconds until it is healed. */
  readonly ms: number;
  readonly heal: () => Promise<unknown>;
}

function everyGate(change: (gate: ClusterWorker['gates'][number]) => void, nth: number): void {
  workers[nth]?.gates.forEach(change);
}

/** Faults of one worker after the other. */
function faultsOfWorkers(): readonly Fault[] {
  return [0, 1, 2].flatMap((nth) => [
    {
      name: `worker ${nth} is killed`,
      strike: async () => workers[nth]?.process().signal('SIGKILL'),
      ms: 500,
      heal: async () => workers[nth]?.replace(),
    },
    ...(['out', 'both'] as const).map((way) => ({
      name: `worker ${nth} is cut off, ${way === 'both' ? 'in both directions' : 'in one direction'}`,
      strike: async () => everyGate((gate) => gate.hold(way === 'both' ? 'both' : undefined), nth),
      ms: 15_000,
      heal: async () => everyGate((gate) => gate.open(), nth),
    })),
    ...[50, 200].map((delayMs) => ({
      name: `worker ${nth} is slow by ${delayMs} ms`,
      strike: async () => everyGate((gate) => gate.delay(delayMs), nth),
      ms: 10_000,
      heal: async () => everyGate((gate) => gate.delay(0), nth),
    })),
  ]);
}

function faultsOfServers(): readonly Fault[] {
  return [
    {
      name: 'the Temporal server is killed',
      strike: async () => cluster.server?.kill(),
      ms: 3_000,
      heal: async () => cluster.server?.restart(),
    },
    {
      name: 'PostgreSQL is stopped, -m immediate',
      strike: async () => cluster.postgres?.kill(),
      ms: 5_000,
      heal: async () => cluster.postgres?.restart(),
    },
    {
      name: 'S3 is away for a minute',
      strike: async () => cluster.objects?.kill(),
      ms: 60_000,
      heal: async () => cluster.objects?.restart(),
    },
  ];
}

/** Plays runs, has the fault strike while calls are in flight, and waits for their ends. */
async function survive(fault: Fault): Promise<typeof survived> {
  const runs = await startRuns(`struck-${runIds.length}`, 6);
  await eventually('calls in flight', async () => inFlight(stage.rehearsal.calls()).length >= 3);
  const beganAt = Date.now();
  await fault.strike();
  await sleep(fault.ms);
  // The fault struck: no run was over when it was healed.
  const open = await Promise.all(runs.map((run) => run.describe().catch(() => null)));
  expect(open.some((run) => run === null || run.status.name === 'RUNNING')).toBe(true);
  await fault.heal();
  const outcomes = await Promise.all(runs.map((run) => outcomeOf(stage, run)));
  const calls = runs.map(
    ({ workflowId }) =>
      stage.rehearsal.calls().filter(({ callKey }) => callKey.startsWith(`${workflowId}/`)).length,
  );
  const seconds = ((Date.now() - beganAt) / 1_000).toFixed(1);
  console.log(`${fault.name}: 6 runs completed ${seconds} s after it, calls: ${calls.join(' ')}`);
  return {
    statuses: new Set(outcomes.map(({ status }) => status)),
    outcomes: new Set(outcomes.map((one) => JSON.stringify(one))).size,
  };
}

/** The runs are the same, so their outcomes are. */
const survived = { statuses: new Set(['completed']), outcomes: 1 };

function faults(): void {
  it(
    'lose no run while each worker is killed, cut off for 15 s and slowed down',
    async () => {
      for (const fault of faultsOfWorkers()) expect(await survive(fault)).toEqual(survived);
    },
    30 * minutes,
  );

  it.each(faultsOfServers())(
    'lose no run while $name',
    async (fault) => expect(await survive(fault)).toEqual(survived),
    10 * minutes,
  );
}

/** Copies what is stored into a home, of which the promises of files hold. */
async function copyHome(name: string): Promise<string> {
  const home = join(cluster.folder, name);
  const from = openStores({
    home: join(cluster.folder, 'client'),
    ...readStoreSettings(cluster.env),
  });
  const to = openStores({ home, cacheMaxBytes: 0 });
  await to.open();
  const { faults: lost } = await copyStores(from, to);
  await Promise.all([from.close(), to.close()]);
  expect(lost).toEqual([]);
  return home;
}

function promises(): void {
  it(
    'keep the promises of every run: what is stored is whole, and histories replay',
    async () => {
      const home = await copyHome('copy');
      const some = runIds.filter((_id, nth) => nth % 10 === 0);
      for (const id of some) {
        await expectPromisesKept({ client: stage.client, home, started: runIds }, id, {
          orphans: true,
          refusedTasks: true,
        });
      }
      expect(some.length).toBeGreaterThan(3);
    },
    10 * minutes,
  );
}

function restored(): void {
  it(
    'go on with runs that waited, after all databases were lost and restored from dumps',
    async () => {
      const programs = await ensurePostgres();
      const url = cluster.postgres?.url ?? '';
      const run = (program: string, ...args: readonly string[]): void => {
        const path = join(programs, program);
        const done = spawnSync(existsSync(path) ? path : program, args, { encoding: 'utf8' });
        if (done.status !== 0) throw new Error(`${program}: ${done.stderr ?? String(done.error)}`);
      };
      const waiting: WorkflowHandle[] = [];
      for (const id of ['restored-0', 'restored-1', 'restored-2']) {
        waiting.push(await stage.start('plannerRun', { goal }, id));
      }
      const questions = await Promise.all(
        waiting.map(({ workflowId }) =>
          eventually('a question', async () => {
            const handle = stage.client.workflow.getHandle(workflowId);
            return (await stage.questions(handle)).open[0];
          }),
        ),
      );
      for (const { workflowId } of waiting) await untilIdle(stage, workflowId);
      const folder = join(cluster.folder, 'dumps');
      mkdirSync(folder);
      await cluster.server?.kill();
      for (const name of databases) {
        run(
          'pg_dump',
          '--format=custom',
          '--file',
          join(folder, name),
          url.replace(/postgres$/, name),
        );
      }
      for (const name of databases) {
        await executeSql(url, `DROP DATABASE ${name} WITH (FORCE)`);
        await executeSql(url, `CREATE DATABASE ${name}`);
        run('pg_restore', '--dbname', url.replace(/postgres$/, name), join(folder, name));
      }
      await cluster.server?.restart();
      for (const worker of workers) await worker.replace();
      for (const [nth, handle] of waiting.entries()) {
        const { question_id, choices } = questions[nth] ?? { question_id: '', choices: [] };
        await handle.signal('answer', { question_id, answer: choices[0] });
      }
      const results = await Promise.all(waiting.map((handle) => stage.result(handle)));
      expect(results.map(({ status }) => status)).toEqual(waiting.map(() => 'completed'));
    },
    10 * minutes,
  );
}
