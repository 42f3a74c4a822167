import type { WorkflowService } from '@temporalio/client';
import { readWorkerName } from '../core/run/run-place.ts';
import { entryPoints } from '../core/text/entry-points.ts';
import { commandText, countOf } from '../core/text/format.ts';
import { formatTime } from './format-time.ts';
import type { RunListing } from './run-listing.ts';
import { callServer, type ClientContext, type ServerAddress } from './server-calls.ts';

/** A poll lasts a minute at most, so a worker that was seen longer ago is gone, or has no time to poll. */
const pollSecondsMax = 90;

/** Workers that poll a task queue, and the version that gets new runs. */
export interface QueueState {
  /** The last time that each worker asked for work, also of those that are gone, as far as the server remembers. */
  readonly polls: readonly Poll[];
  /** Version of each worker that polls, as `<deployment>:<build>`, or null. */
  readonly versions: readonly (string | null)[];
  /** The version that takes new runs; null: workers without one. */
  readonly current: string | null;
  /** Names of the workers that poll, by the id of their store. Those of other software tell none. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
}

/** The last time that a worker asked a server for work. */
export interface Poll {
  /** Unix epoch seconds. */
  readonly at: number;
  /** Version of the worker, as `<deployment>:<build>`, or null. */
  readonly version: string | null;
}

/** Temporal's numbers for the parts of a task queue from which workers take workflow tasks and activities. */
const workflowType = 1;
const activityType = 2;

/**
 * Temporal's number for a look at all partitions of a queue, of which there are four by default. The usual look sees those who
 * poll the first one, and from some five workers on not all of them do. It needs the versions that are meant, which the
 * usual one tells.
 */
const everyPartition = 1;

/**
 * Reads who polls a task queue. Works with every worker off.
 *
 * @param part Default: workflows.
 */
export async function readQueue(
  server: ServerAddress,
  taskQueue: string,
  part: 'workflows' | 'activities' = 'workflows',
): Promise<QueueState> {
  const type = part === 'workflows' ? workflowType : activityType;
  const { pollers, versioningInfo } = await describeQueue(server, taskQueue, {
    taskQueueType: type,
  });
  const current = versionName(versioningInfo?.currentDeploymentVersion);
  const atRoot = pollsOf(pollers);
  const versions = [...new Set([current, ...atRoot.map(({ version }) => version)])];
  // A server that does not know this look has told of the first partition at least.
  const { versionsInfo } = await describeQueue(server, taskQueue, {
    apiMode: everyPartition,
    reportPollers: true,
    taskQueueTypes: [type],
    versions: { buildIds: versions.filter((version) => version !== null), unversioned: true },
  }).catch(() => ({ versionsInfo: null }));
  const elsewhere = Object.values(versionsInfo ?? {}).flatMap(({ typesInfo }) =>
    Object.values(typesInfo ?? {}).flatMap((info) => pollsOf(info.pollers)),
  );
  const seen = newestOf([...atRoot, ...elsewhere]);
  const present = seen.filter(isRecent);
  return {
    polls: seen,
    versions: present.map(({ version }) => version),
    stores: storesOf(present.map(({ identity }) => identity)),
    current,
  };
}

type DescribeRequest = Parameters<WorkflowService['describeTaskQueue']>[0];
type QueueDescription = Awaited<ReturnType<WorkflowService['describeTaskQueue']>>;

function describeQueue(
  server: ServerAddress,
  taskQueue: string,
  asked: DescribeRequest,
): Promise<QueueDescription> {
  const { connection, namespace } = server;
  return callServer(server, null, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      ...asked,
    }),
  );
}

interface SeenPoll extends Poll {
  readonly identity: string;
}

function pollsOf(pollers: QueueDescription['pollers'] | null = []): SeenPoll[] {
  return (pollers ?? []).map(({ lastAccessTime, deploymentOptions, identity }) => ({
    identity: identity ?? '',
    at: Number(lastAccessTime?.seconds ?? 0),
    version: versionName(deploymentOptions),
  }));
}

/** Leaves the newest poll of each worker. */
function newestOf(polls: readonly SeenPoll[]): SeenPoll[] {
  const newest = new Map<string, SeenPoll>();
  for (const poll of polls) {
    const known = newest.get(poll.identity);
    if (known === undefined || known.at < poll.at) newest.set(poll.identity, poll);
  }
  return [...newest.values()];
}

function isRecent({ at }: Pick<Poll, 'at'>): boolean {
  return Date.now() / 1_000 - at < pollSecondsMax;
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

/** Says why no worker answered a query, and what to try. */
export async function explainSilence(context: ClientContext, run: RunPlace): Promise<string> {
  return describeSilence(context, run, await readQueue(context, run.task_queue));
}

type RunPlace = Pick<RunListing, 'run_id' | 'task_queue' | 'version'>;

/**
 * Words what the server saw of the workers of a run that does not answer. A worker that is slow and one that has just ended
 * look the same to it. The text stays the same until the server sees something else.
 */
export function describeSilence(
  here: Pick<ClientContext, keyof ServerAddress | 'taskQueue'>,
  { version, run_id, task_queue }: RunPlace,
  queue: QueueState,
): string {
  const misled = version === null ? findMisledRuns(here, task_queue, queue) : null;
  if (misled !== null) return `${misled.detail}; ${lastKnown} Try: ${misled.cure}`;
  const polls = queue.polls.filter((poll) => version === null || poll.version === version);
  const worker = version === null ? 'worker' : `worker of version ${version}`;
  const start =
    version === null ? `${entryPoints.worker} (or ${entryPoints.dev})` : commandText('doctor');
  if (polls.some(isRecent)) {
    return (
      `No ${worker} answered. One asked for work in the last ${pollSecondsMax} seconds, so it is busy or has just ended; ` +
      `${lastKnown} Try: the same command again in a minute, or, if it ended, ${start}`
    );
  }
  if (version === null && task_queue !== here.taskQueue) {
    const end = commandText('temporal', 'workflow', 'terminate', '--workflow-id', run_id);
    return (
      `No worker polls the task queue "${task_queue}", on which the run was started; ${lastKnown} ` +
      `The task queue here is "${here.taskQueue}". If the name was misspelt, try: ${end}, then start it again.`
    );
  }
  const pinned = version === null ? '' : ', and the run is pinned to it';
  return `${describeAbsence(worker, polls)}${pinned}; ${lastKnown} Try: ${start}`;
}

const lastKnown = 'this is the last known state.';

/** @param polls none of them recent */
function describeAbsence(worker: string, polls: readonly Poll[]): string {
  return polls.length === 0
    ? `The server knows no ${worker} that asks for work`
    : `No ${worker} has asked for work since ${formatTime(Math.max(...polls.map(({ at }) => at)))} UTC`;
}
