import { createHash } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import type { NativeConnection } from '@temporalio/worker';
import type { Activities } from '../contracts/activity-types.ts';
import { taskQueue } from '../contracts/names.ts';
import type { WorkflowBundle } from './bundle-workflows.ts';
import { tolerantCodec } from './tolerant-codec.ts';

export interface CreateWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly workflowBundle: WorkflowBundle;
  readonly activities: Activities;
  /** Default `planwave`. */
  readonly taskQueue?: string;
  /** How long calls in flight may go on after SIGTERM, in milliseconds. Default 100,000: a deploy should not buy twice. */
  readonly shutdownGraceMs?: number;
}

/** One worker with the settings that were measured to suit long model calls. */
export function createWorker(options: CreateWorkerOptions): Promise<Worker> {
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? taskQueue,
    workflowBundle: options.workflowBundle,
    activities: { ...options.activities },
    dataConverter: { payloadCodecs: [tolerantCodec] },
    // Calls wait for the network, not for the processor; `max_parallel` bounds each run.
    maxConcurrentActivityTaskExecutions: 200,
    // A killed worker's workflows move to another one after this long instead of the default 10 s.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    // Cancellation reaches a call with its next heartbeat: a stopped run closes its sockets within seconds.
    maxHeartbeatThrottleInterval: '1 second',
    defaultHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: options.shutdownGraceMs ?? 100_000,
    buildId: buildIdOf(options.workflowBundle),
  });
}

/** Six events of every turn name the code that ran it: the SDK's own name for it takes 90 bytes each time. */
function buildIdOf({ code }: WorkflowBundle): string {
  return `planwave+${createHash('sha256').update(code).digest('hex').slice(0, 12)}`;
}
