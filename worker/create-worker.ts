import { createHash } from 'node:crypto';
import {
  Worker,
  type ActivityInterceptors,
  type ActivityInterceptorsFactory,
  type NativeConnection,
  type WorkerOptions,
} from '@temporalio/worker';
import { ApplicationFailure } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Activities } from '../contracts/activity-types.ts';
import { type IdentifyStore, StoreUnavailable } from '../activities/ports/artifact-store.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import { workOf } from '../activities/attempt/heartbeat.ts';
import { redactFailure } from '../activities/redaction/redact-ports.ts';
import { taskQueue, storeHeader } from '../contracts/names.ts';
import { createEncryptingCodec } from '../encryption/encrypting-codec.ts';
import { readKeyRing, type KeyRing } from '../encryption/key-ring.ts';
import { createRedactingCodec } from '../redaction/redacting-codec.ts';
import type { FailureType } from '../contracts/errors.ts';
import { readStoreIdentity, refuseOtherStore } from '../core/run/run-place.ts';
import { refuseBlockedWork } from './watchdog.ts';
import { encodedFailures, readBundle, type WorkflowBundle } from './bundle-workflows.ts';
import type { ModelQueueSettings } from './part-settings.ts';
import { placeWork } from './work-place.ts';
import type { Tracing } from './start-tracing.ts';
import { tolerantCodec } from './tolerant-codec.ts';

export interface CreateWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly workflowBundle: WorkflowBundle;
  readonly activities: Activities;
  /** Redacts everything that goes to the server. */
  readonly redactor: Redactor;
  /** Keys of encrypted runs, which need an encrypted bundle. If undefined, nothing is encrypted. */
  readonly keys?: KeyRing | undefined;
  /** Queue of model calls that runs share. If undefined, model calls wait in the queues of their runs. */
  readonly models?: ModelQueueSettings | undefined;
  /** Part of the machine's memory up to which work is taken. If undefined, 200 activities at once. */
  readonly memoryTarget?: number | undefined;
  /** Default `planwave`. */
  readonly taskQueue?: string;
  /** Milliseconds that calls in flight may take after SIGTERM. Default 100,000: a deploy should not pay twice. */
  readonly shutdownGraceMs?: number;
  /** Workflows that stay in memory between their tasks; 0 replays each task from its history. Default 300. */
  readonly maxCachedWorkflows?: number | undefined;
  /** Names the code in every event that it creates. Default: a hash of the workflow code alone. */
  readonly buildId?: string;
  /**
   * The worker deployment that pins its runs to this build. If undefined, runs continue under the code of any worker
   * that polls.
   */
  readonly deploymentName?: string | undefined;
  /** Needs a traced bundle. If undefined, nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** The home, where the watchdog notes what blocked a worker. If undefined, blocked work is not refused. */
  readonly home?: string;
  /** Compared with the store of each run before its activities read anything. If undefined, nothing is compared. */
  readonly identifyStore?: IdentifyStore;
  /** Shown for the worker on the server. If undefined, the SDK's default. */
  readonly identity?: string;
}

/** Workers of one process: for the task queue, and for that of model calls, if there is one. */
export type ProcessWorker = Pick<Worker, 'run' | 'shutdown' | 'getStatus'>;

/**
 * Time that workflow code gets, with its promises, before the SDK cuts it off. Default of the SDK: 5 s, which also pass while
 * the worker is suspended or gets no processor, and code that is cut off can end the process, see decision 18. The SDK
 * takes this option without naming it in its types.
 */
const workflowCodeLimit = { isolateExecutionTimeout: '30 seconds' };

/** Creates a worker with settings that were measured for long model calls. */
export async function createWorker(options: CreateWorkerOptions): Promise<ProcessWorker> {
  const { tracing, workflowBundle, activities, models } = options;
  const worker = await Worker.create({
    ...commonOf(options),
    taskQueue: options.taskQueue ?? taskQueue,
    workflowBundle,
    activities: { ...activities },
    // After this time another worker takes over a killed worker's workflows; the default is 10 s.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    // The SDK's default grows with the machine, to thousands of runs that wait for people.
    maxCachedWorkflows: options.maxCachedWorkflows ?? 300,
    ...workflowCodeLimit,
    ...(options.memoryTarget !== undefined && {
      workflowTaskPollerBehavior: { type: 'autoscaling' },
    }),
    ...(tracing !== undefined && { sinks: tracing.sinks }),
  });
  if (models === undefined) return worker;
  const { modelTurn } = activities;
  const modelWorker = await Worker.create({
    ...commonOf(options),
    taskQueue: models.queue,
    activities: { modelTurn },
    ...(models.rate !== undefined && { maxTaskQueueActivitiesPerSecond: models.rate }),
  });
  return joinWorkers(worker, modelWorker);
}

/** One that fails ends the other. */
function joinWorkers(worker: Worker, other: Worker): ProcessWorker {
  const shutdown = (): void => {
    for (const one of [worker, other]) if (one.getState() === 'RUNNING') one.shutdown();
  };
  return {
    getStatus: () => worker.getStatus(),
    shutdown,
    run: async () => {
      const ends = [worker, other].map((one) => one.run().finally(shutdown));
      await Promise.allSettled(ends);
      await Promise.all(ends);
    },
  };
}

/** Calls wait for the network, not for the processor; `max_parallel` bounds each run. */
const slots = 200;

/** Activities that a worker does at once even when memory or the processor is busy: most of them wait for a model. */
const slotsMin = 10;

/**
 * Workflow tasks that a worker does at once. All share one thread, so more would only make each of them slower: after a
 * restart every open run is replayed, and a task that is not done within its timeout is replayed from its beginning.
 */
const workflowTaskSlots = 3;

/** Returns the limits of what a worker does at once. */
function slotsOf({
  memoryTarget,
}: CreateWorkerOptions): Pick<
  WorkerOptions,
  | 'tuner'
  | 'activityTaskPollerBehavior'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxConcurrentWorkflowTaskExecutions'
> {
  if (memoryTarget === undefined) {
    return {
      maxConcurrentActivityTaskExecutions: slots,
      maxConcurrentWorkflowTaskExecutions: workflowTaskSlots,
    };
  }
  return {
    tuner: {
      // The processor may be busy with the work of others. At its limit the tuner grants no more than the least.
      tunerOptions: { targetMemoryUsage: memoryTarget, targetCpuUsage: 1 },
      activityTaskSlotOptions: {
        minimumSlots: slotsMin,
        maximumSlots: 5 * slots,
        rampThrottle: 10,
      },
      workflowTaskSlotOptions: {
        minimumSlots: workflowTaskSlots,
        maximumSlots: workflowTaskSlots,
        rampThrottle: 0,
      },
    },
    activityTaskPollerBehavior: { type: 'autoscaling' },
  };
}

/** Returns the options that do not depend on the task queue. */
function commonOf(options: CreateWorkerOptions) {
  const { tracing, keys = readKeyRing(undefined), namespace } = options;
  return {
    connection: options.connection,
    namespace,
    ...(options.identity !== undefined && { identity: options.identity }),
    dataConverter: {
      payloadCodecs: [
        createRedactingCodec(options.redactor, 'history'),
        tolerantCodec,
        // Also without keys: a workflow whose payloads can't be read must wait, and not go on without them.
        createEncryptingCodec(keys, namespace),
      ],
      ...(keys.ids.length > 0 && { failureConverterPath: encodedFailures }),
    },
    // The last interceptor is the innermost: the others see redacted failures.
    interceptors: {
      activity: [
        ...(tracing === undefined ? [] : [tracing.activityInterceptors]),
        addWorkToLog,
        // Before all that reads the home.
        ...(options.identifyStore === undefined ? [] : [refuseOtherStores(options.identifyStore)]),
        ...(options.home === undefined ? [] : [refuseBlockedWork(options.home)]),
        () => redactFailuresWith(options.redactor),
      ],
    },
    ...slotsOf(options),
    // Cancellation reaches a call with its next heartbeat: a stopped run closes its sockets within seconds.
    maxHeartbeatThrottleInterval: '1 second',
    defaultHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: options.shutdownGraceMs ?? 100_000,
    ...versionOf(options),
  } satisfies Partial<WorkerOptions>;
}

function redactFailuresWith(redactor: Redactor): ActivityInterceptors {
  return {
    inbound: {
      execute: (input, next) =>
        next(input).catch((error: unknown) => {
          throw redactFailure(error, redactor);
        }),
    },
  };
}

/**
 * Adds delegation, agent, task and turn to each line that an attempt logs; run and wave follow from the workflow's id.
 */
const addWorkToLog: ActivityInterceptorsFactory = (context) => ({
  outbound: {
    getLogAttributes: (attributes, next) => next({ ...attributes, ...placeWork(workOf(context)) }),
  },
});

/** Pins a run, its children and its continuations to the code and the prompts that it began with. */
function versionOf({
  workflowBundle,
  buildId = hashOf(workflowBundle),
  deploymentName,
}: CreateWorkerOptions): Pick<WorkerOptions, 'buildId' | 'workerDeploymentOptions'> {
  if (deploymentName === undefined) return { buildId };
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/**
 * Returns a short name of the code: six events of every turn contain it, and the SDK's own name takes 90 bytes each
 * time.
 */
function hashOf(bundle: WorkflowBundle): string {
  return `planwave+${createHash('sha256').update(readBundle(bundle)).digest('hex').slice(0, 12)}`;
}

/**
 * First wait in milliseconds after a refusal: the next worker that polls may have the right store. It grows slowly, because
 * the run stands still for the rest of it after that worker has come.
 */
const retryBaseMs = 100;
const retryGrowth = 1.5;
const retryMaxMs = 60_000;

/**
 * Creates an interceptor that refuses an activity before anything is read for it, when its run is kept in another store than
 * this worker's, or when this worker's store is gone. The server gives the activity to a worker again until one accepts it.
 *
 * @throws StoreUnavailable, which is retried.
 */
function refuseOtherStores(identify: IdentifyStore): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute({ headers, ...input }, next) {
        const payload = headers[storeHeader];
        const refusal = payload === undefined ? null : await findRefusal(payload, identify);
        if (refusal === null) return next({ headers, ...input });
        throw ApplicationFailure.create({
          type: 'StoreUnavailable' satisfies FailureType,
          message: refusal,
          nextRetryDelay: Math.min(retryBaseMs * retryGrowth ** (info.attempt - 1), retryMaxMs),
        });
      },
    },
  });
}

type Payload = Parameters<typeof defaultPayloadConverter.fromPayload>[0];

async function findRefusal(payload: Payload, identify: IdentifyStore): Promise<string | null> {
  try {
    const kept = readStoreIdentity(defaultPayloadConverter.fromPayload(payload));
    return refuseOtherStore(kept, await identify());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return error.message;
  }
}
