import { createHash } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import type {
  ActivityInterceptors,
  ActivityInterceptorsFactory,
  NativeConnection,
  WorkerOptions,
} from '@temporalio/worker';
import type { Activities } from '../contracts/activity-types.ts';
import type { Redactor } from '../activities/ports/redactor.ts';
import { workOf } from '../activities/attempt/attempt-work.ts';
import { redactFailure } from '../activities/redaction/redact-failure.ts';
import { taskQueue } from '../contracts/names.ts';
import { createRedactingCodec } from '../redaction/redacting-codec.ts';
import { refuseBlockedWork } from './blocked-work.ts';
import type { WorkflowBundle } from './bundle-workflows.ts';
import { placeWork } from './place-work.ts';
import type { Tracing } from './start-tracing.ts';
import { tolerantCodec } from './tolerant-codec.ts';

export interface CreateWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly workflowBundle: WorkflowBundle;
  readonly activities: Activities;
  /** Stands before all that goes to the server. */
  readonly redactor: Redactor;
  /** Default `planwave`. */
  readonly taskQueue?: string;
  /** How long calls in flight may go on after SIGTERM, in milliseconds. Default 100,000: a deploy should not buy twice. */
  readonly shutdownGraceMs?: number;
  /** Workflows that stay in memory between their tasks; 0 replays each task from its history. Default 300. */
  readonly maxCachedWorkflows?: number | undefined;
  /** Names the code in every event that it made. Default: a hash of the workflow code alone. */
  readonly buildId?: string;
  /** The worker deployment that pins its runs to this build. If undefined: runs go on under whatever code polls. */
  readonly deploymentName?: string | undefined;
  /** If undefined: nothing is traced. Needs a traced bundle. */
  readonly tracing?: Tracing | undefined;
  /** The home, where the watchdog notes what blocked a worker. If undefined: nobody asks. */
  readonly home?: string;
}

/** One worker with the settings that were measured to suit long model calls. */
export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  const { tracing } = options;
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? taskQueue,
    workflowBundle: options.workflowBundle,
    activities: { ...options.activities },
    dataConverter: {
      payloadCodecs: [createRedactingCodec(options.redactor, 'history'), tolerantCodec],
    },
    // The last one is the innermost: what the others see of a failure is redacted.
    interceptors: {
      activity: [
        ...(tracing === undefined ? [] : [tracing.activityInterceptors]),
        addWorkToLog,
        ...(options.home === undefined ? [] : [refuseBlockedWork(options.home)]),
        () => redactFailuresWith(options.redactor),
      ],
    },
    // Calls wait for the network, not for the processor; `max_parallel` bounds each run.
    maxConcurrentActivityTaskExecutions: 200,
    // A killed worker's workflows move to another one after this long instead of the default 10 s.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    // Cancellation reaches a call with its next heartbeat: a stopped run closes its sockets within seconds.
    maxHeartbeatThrottleInterval: '1 second',
    defaultHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: options.shutdownGraceMs ?? 100_000,
    // The SDK's default grows with the machine, to thousands of runs that wait for people.
    maxCachedWorkflows: options.maxCachedWorkflows ?? 300,
    ...(tracing !== undefined && { sinks: tracing.sinks }),
    ...versionOf(options),
  });
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

/** Every line that an attempt logs says whose turn it is about; run, wave and delegation follow from the workflow's id. */
const addWorkToLog: ActivityInterceptorsFactory = (context) => ({
  outbound: {
    getLogAttributes: (attributes, next) => next({ ...attributes, ...placeWork(workOf(context)) }),
  },
});

/** Pinned: a run stays with the code and the prompts that it began with, and so do its children and continuations. */
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

/** Six events of every turn name the code that ran it: the SDK's own name for it takes 90 bytes each time. */
function hashOf({ code }: WorkflowBundle): string {
  return `planwave+${createHash('sha256').update(code).digest('hex').slice(0, 12)}`;
}
