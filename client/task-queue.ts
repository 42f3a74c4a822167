import { readWorkerName } from '../core/run/run-place.ts';
import { countOf } from '../core/text/format.ts';
import { callServer, type ServerAddress } from './server-calls.ts';

/** A poll lasts a minute at most, so a worker that was seen longer ago is gone. */
const pollSecondsMax = 90;

/** Workers that poll a task queue, and the version that gets new runs. */
export interface QueueState {
  /** Seconds since each worker was seen, also of those that are gone. */
  readonly ages: readonly number[];
  /** Version of each worker that polls, as `<deployment>:<build>`, or null. */
  readonly versions: readonly (string | null)[];
  /** The version that takes new runs; null: workers without one. */
  readonly current: string | null;
  /** Names of the workers that poll, by the id of their store. Those of older versions tell none. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
}

/** Reads who polls a task queue. Works with every worker off. */
export async function readQueue(server: ServerAddress, taskQueue: string): Promise<QueueState> {
  const { connection, namespace } = server;
  const { pollers, versioningInfo } = await callServer(server, null, () =>
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

/** Names a version as search attributes do. */
function versionName(version: DeploymentVersion | null | undefined): string | null {
  return version?.deploymentName ? `${version.deploymentName}:${version.buildId ?? ''}` : null;
}

export function splitVersion(version: string): { readonly name: string; readonly buildId: string } {
  const at = version.indexOf(':');
  return { name: version.slice(0, at), buildId: version.slice(at + 1) };
}

/** Says how many workers poll. */
export function describePollers(taskQueue: string, count: number): string {
  return `${countOf(count, 'worker polls', 'workers poll')} the task queue ${taskQueue}`;
}

/**
 * Says why new runs reach none of the workers that poll: they go to another version.
 *
 * @returns null when a worker takes new runs, and when none polls.
 */
export function findMisledRuns(
  server: ServerAddress,
  taskQueue: string,
  { versions, current }: QueueState,
): { readonly detail: string; readonly cure: string } | null {
  if (versions.length === 0 || versions.includes(current)) return null;
  const [other] = versions.filter((version) => version !== null);
  const takers = current === null ? 'workers without a version' : `version ${current}`;
  return {
    detail: `${describePollers(taskQueue, versions.length)}, but new runs go to ${takers}, and none polls`,
    cure:
      other === undefined
        ? `start a worker of version ${current}, or ${makeCurrent(server, current, '--unversioned')}`
        : makeCurrent(server, other, `--build-id ${splitVersion(other).buildId}`),
  };
}

function makeCurrent(
  { namespace, address }: ServerAddress,
  version: string | null,
  target: string,
): string {
  const { name } = splitVersion(version ?? '');
  return (
    `temporal worker deployment set-current-version --deployment-name ${name} ${target} ` +
    `--namespace ${namespace} --address ${address}`
  );
}
