// The worker container's health check: whether the server has seen this very container poll for work.
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** A poll lasts a minute at most. */
const pollSecondsMax = 90;

/**
 * Returns the process and host of a worker's name, which `core/run/run-place.ts` writes as `4711@host store:<id>`: plain
 * JavaScript can't import it.
 *
 * @param {string | null | undefined} identity
 */
function processOf(identity) {
  const name = identity ?? '';
  const mark = name.lastIndexOf(' store:');
  return mark === -1 ? name : name.slice(0, mark);
}

/** @returns {Promise<boolean>} */
async function isPolling() {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  try {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: process.env['PLANWAVE_TASK_QUEUE'] || 'planwave' },
    });
    return (pollers ?? []).some(({ identity, lastAccessTime }) => {
      const age = Date.now() / 1_000 - Number(lastAccessTime?.seconds ?? 0);
      return processOf(identity).endsWith(`@${hostname()}`) && age < pollSecondsMax;
    });
  } finally {
    await connection.close();
  }
}

try {
  if (!(await isPolling())) throw new Error(`no worker of ${hostname()} polls the task queue`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
