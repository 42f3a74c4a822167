import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { findPortHolder } from '../../scripts/dev-server/running-server.ts';
import { startOwnServer } from '../support/own-server.ts';
import { runScript } from '../support/worker-process.ts';
import type { ScriptProcess } from '../support/worker-process.ts';
import type { CpuReading } from './contest.ts';
import { createFloor } from './floor.ts';
import type { Floor } from './floor.ts';
import { startModelProcess } from './model-process.ts';
import type { ModelProcess } from './model-process.ts';
import { readCpuMs } from './process-usage.ts';

/**
 * Everything that a wave needs, each part a process of its own as in production: the dev server with its database and
 * full fsync, one worker, the model server. Only the client and the floor are in this process.
 */
export interface BenchStage {
  readonly client: Client;
  readonly taskQueue: string;
  readonly model: ModelProcess;
  readonly floor: Floor;
  readonly workerPid: number;
  /**
   * Starts workers on a task queue of their own, with one home. Resolves when all of them poll.
   *
   * @param env Settings beside the usual ones. Default: none.
   * @returns their process ids.
   */
  addWorkers(options: {
    readonly taskQueue: string;
    readonly count: number;
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<readonly number[]>;
  /** @returns null where processes can't be looked at. */
  readCpu(): Promise<CpuReading | null>;
  close(): Promise<void>;
}

const taskQueue = 'planwave';

/**
 * @param serverArguments Arguments of the dev server beside the usual ones. Default: none.
 * @throws when a part does not come up; those that are up are taken down again.
 */
export async function openBenchStage(serverArguments?: readonly string[]): Promise<BenchStage> {
  const home = mkdtempSync(join(tmpdir(), 'planwave-bench-'));
  const closing: (() => Promise<void>)[] = [
    async () => rmSync(home, { recursive: true, force: true }),
  ];
  const close = async (): Promise<void> => {
    for (let next = closing.pop(); next !== undefined; next = closing.pop()) {
      // What was started last ends first.
      // oxlint-disable-next-line no-await-in-loop
      await next();
    }
  };
  try {
    return { ...(await bringUp(home, (part) => closing.push(part), serverArguments)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function bringUp(
  home: string,
  onUp: (close: () => Promise<void>) => void,
  serverArguments?: readonly string[],
): Promise<Omit<BenchStage, 'close'>> {
  const server = await startOwnServer(serverArguments);
  onUp(() => server.stop());
  const model = await startModelProcess();
  onUp(() => model.stop());
  const startWorker = async (env: Readonly<Record<string, string>>): Promise<ScriptProcess> => {
    const started = runScript(['worker'], {
      TEMPORAL_ADDRESS: server.address,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'rehearsal',
      // As deploy/Dockerfile sets it.
      MALLOC_ARENA_MAX: '2',
      ...env,
    });
    onUp(async () => {
      // Nothing of it is needed any more, so nothing is waited for.
      started.signal('SIGKILL');
      await started.ended;
    });
    await started.printed('The worker polls');
    return started;
  };
  const worker = await startWorker({ PLANWAVE_TASK_QUEUE: taskQueue, PLANWAVE_HOME: home });
  const connection = await Connection.connect({ address: server.address });
  onUp(() => connection.close());
  const floor = createFloor(model.url);
  onUp(async () => floor.close());
  const serverPid = (await findPortHolder(Number(server.address.split(':')[1])))?.pid;
  return {
    client: new Client({ connection }),
    taskQueue,
    model,
    floor,
    workerPid: worker.pid,
    async addWorkers({ taskQueue: queue, count, env }) {
      const place = { PLANWAVE_TASK_QUEUE: queue, PLANWAVE_HOME: join(home, queue) };
      const pids: number[] = [];
      for (let nth = 0; nth < count; nth += 1) {
        // Each finds what the one before has bundled.
        // oxlint-disable-next-line no-await-in-loop
        pids.push((await startWorker({ ...place, ...env })).pid);
      }
      return pids;
    },
    async readCpu() {
      const ofServer = serverPid === undefined ? null : await readCpuMs(serverPid);
      const ofWorker = await readCpuMs(worker.pid);
      if (ofServer === null || ofWorker === null) return null;
      return { server: ofServer, worker: ofWorker, model: (await model.read()).cpuMs };
    },
  };
}
