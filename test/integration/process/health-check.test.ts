import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { readQueue } from '../../../client/task-queue.ts';
import { isRecord } from '../../../core/json.ts';
import { eventually } from '../../support/eventually.ts';
import { startOwnServer } from '../../support/own-server.ts';
import type { OwnServer } from '../../support/own-server.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import {
  neutralEnvironment,
  stageEnvironment,
  startWorkerProcess,
  thisCheckout,
} from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** How long a poll waits for a task: about what the server lets it. */
const pollMs = 70_000;

/** Temporal's number for a worker whose version decides which runs it gets. */
const workerVersioningMode = 2;

/** Runs the health check as the container does. @returns what it prints when it fails; null when the worker is healthy. */
async function checkHealth(
  more: Readonly<Record<string, string>> = {},
  host?: string,
): Promise<string | null> {
  const env = { ...neutralEnvironment(), ...stageEnvironment(stage), ...more };
  const named = host === undefined ? [] : ['--import', nameHost(host)];
  const args = [...named, join(thisCheckout, 'deploy', 'check-worker.mjs')];
  return promisify(execFile)(process.execPath, args, { env }).then(
    () => null,
    (error: unknown) => (isRecord(error) ? String(error['stderr']) : String(error)),
  );
}

it('finding T10: the health check of a container passes as soon as its worker polls, and not before', async () => {
  expect(await checkHealth()).toBe(`no worker of ${hostname()} polls the task queue\n`);
  await startWorkerProcess(stage);
  await eventually('the server has seen it poll', async () => (await checkHealth()) === null);
  // As a Secret with an empty entry sets it: the worker takes it as not set.
  expect(await checkHealth({ TEMPORAL_API_KEY: '' })).toBeNull();
});

/** Makes a process believe that it runs on this host. */
function nameHost(host: string): string {
  const code = `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module'; os.hostname = () => '${host}'; syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

describe('a queue of four partitions, as a cluster has them', () => {
  const taskQueue = 'planwave';
  const namespace = 'default';
  const stopping = new AbortController();
  let server: OwnServer;
  let connection: Connection;
  beforeAll(async () => {
    const partitions = ['Read', 'Write'].flatMap((kind) => [
      '--dynamic-config-value',
      `matching.numTaskqueue${kind}Partitions=4`,
    ]);
    server = await startOwnServer(partitions);
    connection = await Connection.connect({ address: server.address });
  });
  afterAll(async () => {
    stopping.abort();
    await connection.close();
    await server.stop();
  });

  it('finding T10: workers that poll another partition than the first are seen too', async () => {
    const hosts = Array.from({ length: 20 }, (_one, at) => `host-${at}`);
    // Two polls each, as a worker of the SDK keeps them open; every second one has a version.
    for (const [at, host] of hosts.entries()) {
      const deploymentOptions = { deploymentName: 'planwave', buildId: 'b1', workerVersioningMode };
      const poll = {
        namespace,
        taskQueue: { name: taskQueue },
        identity: `1@${host} store:s1`,
        ...(at % 2 === 1 && { deploymentOptions }),
      };
      const open = (): Promise<unknown> =>
        connection.withAbortSignal(stopping.signal, () =>
          connection.withDeadline(Date.now() + pollMs, () =>
            connection.workflowService.pollWorkflowTaskQueue(poll),
          ),
        );
      for (const polling of [open(), open()]) polling.catch(() => {});
    }
    const here = { connection, address: server.address, namespace };
    const arrived = async (): Promise<boolean> => {
      const { stores } = await readQueue(here, taskQueue);
      return stores.get('s1')?.length === hosts.length;
    };
    await eventually('all polls have arrived', arrived, 60_000);
    const queue = { namespace, taskQueue: { name: taskQueue } };
    const { pollers } = await connection.workflowService.describeTaskQueue(queue);
    const atRoot = (pollers ?? []).map(({ identity }) => identity);
    const elsewhere = hosts.filter((host) => !atRoot.includes(`1@${host} store:s1`));
    // Otherwise this test has nothing to show.
    expect(elsewhere.length).toBeGreaterThan(1);
    const env = { TEMPORAL_ADDRESS: server.address, PLANWAVE_TASK_QUEUE: taskQueue };
    // The polls are not opened again, and count only while they are young.
    for (const host of elsewhere.slice(0, 3)) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await checkHealth(env, host)).toBeNull();
    }
    expect(await checkHealth(env, 'host-away')).toContain('no worker of host-away polls');
  });
});
