// The worker container's health check: whether the server has seen this very container poll for work.
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** @typedef {Awaited<ReturnType<import('@temporalio/client').WorkflowService['describeTaskQueue']>>['pollers'] | null | undefined} Pollers */

/** A poll lasts a minute at most. */
const pollSecondsMax = 90;

/** Variables that are set. An empty one, as compose files and Secrets make them, is not: so the worker reads them too. */
const variables = Object.fromEntries(Object.entries(process.env).filter(([, text]) => text));

/** Temporal's numbers for workflow tasks, and for a look at all partitions of a queue. */
const workflowType = 1;
const everyPartition = 1;

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

/** @param {Pollers} pollers */
function arePolling(pollers) {
  return (pollers ?? []).some(({ identity, lastAccessTime }) => {
    const age = Date.now() / 1_000 - Number(lastAccessTime?.seconds ?? 0);
    return processOf(identity).endsWith(`@${hostname()}`) && age < pollSecondsMax;
  });
}

/** @returns {Promise<boolean>} */
async function isPolling() {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: variables,
  });
  const connection = await Connection.connect(connectionOptions);
  const { workflowService } = connection;
  const queue = { namespace, taskQueue: { name: variables['PLANWAVE_TASK_QUEUE'] ?? 'planwave' } };
  try {
    const { pollers } = await workflowService.describeTaskQueue(queue);
    if (arePolling(pollers)) return true;
    // That look sees the pollers of one partition of the queue, and with some five workers and more not all poll it.
    const { versionsInfo } = await workflowService.describeTaskQueue({
      ...queue,
      apiMode: everyPartition,
      reportPollers: true,
      taskQueueTypes: [workflowType],
      versions: { buildIds: [...new Set(versionsOf(pollers))], unversioned: true },
    });
    return Object.values(versionsInfo ?? {}).some(({ typesInfo }) =>
      Object.values(typesInfo ?? {}).some((info) => arePolling(info.pollers)),
    );
  } finally {
    await connection.close();
  }
}

/**
 * Lists the versions of workers, as `<deployment>:<build>`. The first workers of a version always poll the first partition too.
 *
 * @param {Pollers} pollers
 */
function versionsOf(pollers) {
  return (pollers ?? []).flatMap(({ deploymentOptions: version }) =>
    version?.deploymentName ? [`${version.deploymentName}:${version.buildId ?? ''}`] : [],
  );
}

try {
  if (!(await isPolling())) throw new Error(`no worker of ${hostname()} polls the task queue`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
