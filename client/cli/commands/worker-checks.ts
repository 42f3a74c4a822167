import { PlanwaveClientError } from '../../client-error.ts';
import { queryText, callServer } from '../../server-calls.ts';
import {
  describePollers,
  findMisledRuns,
  readQueue,
  splitVersion,
  type Poll,
} from '../../task-queue.ts';
import type { StoreIdentity } from '../../../contracts/store.ts';
import type { CliSession } from '../cli-session.ts';
import type { DoctorFinding } from '../cli-deps.ts';
import { entryPoints } from '../../../core/text/entry-points.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { hasRunsOf, nameStore } from '../../../core/run/run-place.ts';

/** Checks that a worker polls that takes new runs. */
export async function checkWorkers(session: CliSession, taskQueue: string): Promise<DoctorFinding> {
  const queue = await readQueue(session, taskQueue);
  const { polls, versions, current } = queue;
  if (versions.length === 0) {
    const last =
      polls.length === 0
        ? ''
        : ` (the last one was seen ${formatDuration(secondsSince(polls))} ago)`;
    return {
      ok: false,
      detail: `no worker polls the task queue ${taskQueue} at ${session.address}${last}`,
      cure: `${entryPoints.worker}, or ${entryPoints.dev}`,
    };
  }
  const misled = findMisledRuns(session, taskQueue, queue);
  if (misled !== null) return { ok: false, ...misled };
  const detail = describePollers(taskQueue, versions.length);
  return { ok: true, detail: current === null ? detail : `${detail}; new runs go to ${current}` };
}

function secondsSince(polls: readonly Poll[]): number {
  return Math.round(Date.now() / 1_000 - Math.max(...polls.map(({ at }) => at)));
}

/**
 * Checks that all workers have one store, and that it is the one of this shell: a run goes on only with workers that have the
 * store in which it was opened.
 */
export async function checkStores(
  session: CliSession,
  taskQueue: string,
  own: StoreIdentity | null,
): Promise<DoctorFinding> {
  const { stores } = await readQueue(session, taskQueue);
  const list = [...stores].map(([id, workers]) => `${id} (${workers.join(', ')})`).join(', ');
  const here = own === null ? 'the home of this shell is new' : `this shell has ${nameStore(own)}`;
  const [[only] = []] = stores;
  if (stores.size > 1) {
    return {
      ok: false,
      detail:
        `the workers of the task queue ${taskQueue} have different stores: ${list}; ${here}. ` +
        'Each run waits for workers that have the store in which it was opened',
      cure: 'give all of them one PLANWAVE_HOME or one shared store, or each store a task queue of its own (PLANWAVE_TASK_QUEUE)',
    };
  }
  if (only === undefined) return { ok: true, detail: `no worker tells its store; ${here}` };
  if (own === null || hasRunsOf(own, only))
    return { ok: true, detail: `workers have ${list}; ${here}` };
  return {
    ok: false,
    detail: `workers have the store ${list}, and ${here}: report, export, diff and apply find nothing of their runs here`,
    cure: 'set PLANWAVE_HOME to the home of the workers, on their host',
  };
}

const runsMax = 1_000;

/** Checks that a worker polls each task queue on which open runs make their model calls: a run keeps that of its beginning. */
export async function checkModelQueues(session: CliSession): Promise<DoctorFinding> {
  const runs = new Map<string, string[]>();
  for (const { run_id, load } of await session.client.list({ open: true, limit: runsMax })) {
    const queue = load?.model_queue;
    if (queue !== undefined) runs.set(queue, [...(runs.get(queue) ?? []), run_id]);
  }
  const queues = [...runs.keys()].toSorted();
  const polled = await Promise.all(
    queues.map(async (queue) => (await readQueue(session, queue, 'activities')).versions.length),
  );
  const idle = queues.filter((_queue, at) => polled[at] === 0);
  const [first] = idle;
  if (first === undefined) {
    const list = queues.length === 0 ? 'no open run has one' : `workers poll ${queues.join(', ')}`;
    return { ok: true, detail: list };
  }
  const waiting = idle.map((queue) => `${queue}: ${listNames(runs.get(queue) ?? [])}`);
  return {
    ok: false,
    detail: `no worker polls the task queue on which open runs make their model calls, so these wait (${waiting.join('; ')})`,
    cure: `start a worker with PLANWAVE_MODEL_QUEUE=${first} beside the others, until these runs have ended`,
  };
}

/** Checks that every run that is pinned to a version has a worker of that version. */
export async function checkPinned(session: CliSession, taskQueue: string): Promise<DoctorFinding> {
  const { versions, current } = await readQueue(session, taskQueue);
  const live = [...new Set(versions.filter((version) => version !== null))];
  const query = [
    `ExecutionStatus = 'Running' AND TaskQueue = ${queryText(taskQueue)}`,
    `TemporalWorkflowVersioningBehavior = 'Pinned'`,
    ...live.map((version) => `TemporalWorkerDeploymentVersion != ${queryText(version)}`),
  ].join(' AND ');
  const lost = await countVersions(session, query);
  const [version] = lost.keys();
  if (version === undefined) {
    return { ok: true, detail: 'none waits for a worker version that is not running' };
  }
  const list = [...lost].map(([name, count]) => `${count} to ${name}`).join(', ');
  const home = current !== null && live.includes(current) ? current : live[0];
  const move = home === undefined ? '' : `, or move them: ${moveCommand(session, version, home)}`;
  return {
    ok: false,
    detail: `open workflows are pinned to versions that no worker runs: ${list}`,
    cure: `start a worker of version ${version}${move}`,
  };
}

/** Counts the workflows of each version. A server that knows no versions has none. */
async function countVersions(session: CliSession, query: string): Promise<Map<string, number>> {
  const { connection, namespace } = session;
  const { executions } = await callServer(session, null, () =>
    connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: runsMax }),
  ).catch((error: unknown) => {
    if (error instanceof PlanwaveClientError && error.code === 'bad_input')
      return { executions: [] };
    throw error;
  });
  const counts = new Map<string, number>();
  for (const { searchAttributes } of executions ?? []) {
    const data = searchAttributes?.indexedFields?.['TemporalWorkerDeploymentVersion']?.data;
    const version: unknown = data ? JSON.parse(Buffer.from(data).toString('utf8')) : null;
    if (typeof version === 'string') counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return counts;
}

function moveCommand({ namespace, address }: CliSession, from: string, to: string): string {
  const { name, buildId } = splitVersion(to);
  return (
    `temporal workflow update-options --query "TemporalWorkerDeploymentVersion = '${from}' AND ExecutionStatus = 'Running'" ` +
    `--versioning-override-behavior pinned --versioning-override-deployment-name ${name} ` +
    `--versioning-override-build-id ${buildId} --namespace ${namespace} --address ${address}`
  );
}
