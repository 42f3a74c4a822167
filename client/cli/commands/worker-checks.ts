import { PlanwaveClientError } from '../../client-error.ts';
import { queryText, callServer } from '../../server-calls.ts';
import type { StoreIdentity } from '../../../contracts/store.ts';
import type { CliSession } from '../cli-session.ts';
import type { DoctorFinding } from '../cli-deps.ts';
import { entryPoints } from '../../../core/text/entry-points.ts';
import { countOf, formatDuration } from '../../../core/text/format.ts';
import { hasRunsOf, nameStore, readWorkerName } from '../../../core/run/run-place.ts';

/** A poll lasts a minute at most, so a worker that was seen longer ago is gone. */
const pollSecondsMax = 90;

/** Workers that poll a task queue, and the version that gets new runs. */
interface QueueState {
  /** Seconds since each worker was seen, also of those that are gone. */
  readonly ages: readonly number[];
  /** Version of each worker that polls, as `<deployment>:<build>`, or null. */
  readonly versions: readonly (string | null)[];
  /** The version that takes new runs; null: workers without one. */
  readonly current: string | null;
  /** Names of the workers that poll, by the id of their store. Those of older versions tell none. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
}

/** Checks that a worker polls that takes new runs. */
export async function checkWorkers(session: CliSession, taskQueue: string): Promise<DoctorFinding> {
  const { ages, versions, current } = await readQueue(session, taskQueue);
  const { address } = session;
  if (versions.length === 0) {
    const last =
      ages.length === 0
        ? ''
        : ` (the last one was seen ${formatDuration(Math.round(Math.min(...ages)))} ago)`;
    return {
      ok: false,
      detail: `no worker polls the task queue ${taskQueue} at ${address}${last}`,
      cure: `${entryPoints.worker}, or ${entryPoints.dev}`,
    };
  }
  const count = versions.length;
  const detail = `${countOf(count, 'worker polls', 'workers poll')} the task queue ${taskQueue}`;
  if (versions.includes(current)) {
    return { ok: true, detail: current === null ? detail : `${detail}; new runs go to ${current}` };
  }
  const [other] = versions.filter((version) => version !== null);
  const takers = current === null ? 'workers without a version' : `version ${current}`;
  return {
    ok: false,
    detail: `${detail}, but new runs go to ${takers}, and none polls`,
    cure:
      other === undefined
        ? `start a worker of version ${current}, or ${makeCurrent(session, current, '--unversioned')}`
        : makeCurrent(session, other, `--build-id ${splitVersion(other).buildId}`),
  };
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

const pinnedMax = 1_000;

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

async function readQueue(session: CliSession, taskQueue: string): Promise<QueueState> {
  const { connection, namespace } = session;
  const { pollers, versioningInfo } = await callServer(session, null, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
  );
  const seen = (pollers ?? []).map(({ lastAccessTime, deploymentOptions, identity }) => ({
    identity: identity ?? '',
    age: Date.now() / 1_000 - Number(lastAccessTime?.seconds ?? 0),
    version: versionName(deploymentOptions),
  }));
  const present = seen.filter(({ age }) => age < pollSecondsMax);
  return {
    ages: seen.map(({ age }) => age),
    versions: present.map(({ version }) => version),
    stores: storesOf(present.map(({ identity }) => identity)),
    current: versionName(versioningInfo?.currentDeploymentVersion),
  };
}

function storesOf(identities: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const stores = new Map<string, readonly string[]>();
  for (const identity of identities) {
    const { store, process } = readWorkerName(identity);
    if (store !== null) stores.set(store, [...(stores.get(store) ?? []), process]);
  }
  return stores;
}

interface DeploymentVersion {
  readonly deploymentName?: string | null;
  readonly buildId?: string | null;
}

/** As search attributes have it. */
function versionName(version: DeploymentVersion | null | undefined): string | null {
  return version?.deploymentName ? `${version.deploymentName}:${version.buildId ?? ''}` : null;
}

function splitVersion(version: string): { readonly name: string; readonly buildId: string } {
  const at = version.indexOf(':');
  return { name: version.slice(0, at), buildId: version.slice(at + 1) };
}

/** Counts the workflows of each version. A server that knows no versions has none. */
async function countVersions(session: CliSession, query: string): Promise<Map<string, number>> {
  const { connection, namespace } = session;
  const { executions } = await callServer(session, null, () =>
    connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: pinnedMax }),
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

function makeCurrent(
  { namespace, address }: CliSession,
  version: string | null,
  target: string,
): string {
  const { name } = splitVersion(version ?? '');
  return (
    `temporal worker deployment set-current-version --deployment-name ${name} ${target} ` +
    `--namespace ${namespace} --address ${address}`
  );
}

function moveCommand({ namespace, address }: CliSession, from: string, to: string): string {
  const { name, buildId } = splitVersion(to);
  return (
    `temporal workflow update-options --query "TemporalWorkerDeploymentVersion = '${from}' AND ExecutionStatus = 'Running'" ` +
    `--versioning-override-behavior pinned --versioning-override-deployment-name ${name} ` +
    `--versioning-override-build-id ${buildId} --namespace ${namespace} --address ${address}`
  );
}
