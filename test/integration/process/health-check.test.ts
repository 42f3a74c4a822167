import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isRecord } from '../../../core/json.ts';
import { eventually } from '../../support/eventually.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import {
  neutralEnvironment,
  stageEnvironment,
  startWorkerProcess,
  thisCheckout,
} from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** Runs the health check as the container does. @returns what it prints when it fails; null when the worker is healthy. */
async function checkHealth(): Promise<string | null> {
  const env = { ...neutralEnvironment(), ...stageEnvironment(stage) };
  const args = [join(thisCheckout, 'deploy', 'check-worker.mjs')];
  return promisify(execFile)(process.execPath, args, { env }).then(
    () => null,
    (error: unknown) => (isRecord(error) ? String(error['stderr']) : String(error)),
  );
}

it('finding T10: the health check of a container passes as soon as its worker polls, and not before', async () => {
  expect(await checkHealth()).toBe(`no worker of ${hostname()} polls the task queue\n`);
  await startWorkerProcess(stage);
  await eventually('the server has seen it poll', async () => (await checkHealth()) === null);
}, 120_000);
