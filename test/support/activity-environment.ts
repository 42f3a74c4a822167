import { EventEmitter } from 'node:events';
import type { Info } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import {
  ActivityCancellationDetails,
  defaultFailureConverter,
  defaultPayloadConverter,
  noopMetricMeter,
} from '@temporalio/common';
import { definedOnly } from '../../core/json.ts';
import type { MockActivityEnvironment as SdkEnvironment } from '@temporalio/testing';
import { Activity, type CancelReason } from '@temporalio/worker/lib/activity.js';

/** Info of an activity where a test names none. */
const infoDefault: Info = {
  attempt: 1,
  taskQueue: 'test',
  isLocal: false,
  taskToken: Buffer.from('test'),
  base64TaskToken: Buffer.from('test').toString('base64'),
  activityId: 'test',
  activityType: 'unknown',
  workflowType: 'test',
  heartbeatDetails: undefined,
  activityNamespace: 'default',
  workflowNamespace: 'default',
  workflowExecution: { workflowId: 'test', runId: '00000000-0000-0000-0000-000000000000' },
  scheduledTimestampMs: 1,
  startToCloseTimeoutMs: 1_000,
  scheduleToCloseTimeoutMs: 1_000,
  currentAttemptScheduledTimestampMs: 1,
  namespace: 'test',
  inWorkflow: true,
};

const silent = (): void => {};
const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent };

/**
 * Runs functions as the worker's activities, with the worker's own context. Works like the environment of the same name in
 * `@temporalio/testing`, which loads the whole worker, client and server: in jest that took each test file half a second.
 */
export class MockActivityEnvironment
  extends EventEmitter
  implements Pick<SdkEnvironment, 'context' | 'cancel'>
{
  readonly #activity: Activity;

  constructor(info: Partial<Info> = {}, { client }: { readonly client?: Client } = {}) {
    super();
    const full = { ...infoDefault, ...info };
    const { activityId, isLocal, workflowExecution } = full;
    const workflowId = workflowExecution?.workflowId;
    this.#activity = new Activity(
      full,
      undefined,
      {
        payloadConverter: defaultPayloadConverter,
        payloadCodecs: [],
        failureConverter: defaultFailureConverter,
      },
      {
        type: 'activity',
        namespace: 'default',
        activityId,
        isLocal,
        ...definedOnly({ workflowId }),
      },
      undefined,
      (details: unknown) => this.emit('heartbeat', details),
      client,
      { ...logger, error: (...said) => console.error(...said) },
      noopMetricMeter,
      [],
    );
  }

  get context(): Activity['context'] {
    return this.#activity.context;
  }

  /** Cancels all that runs here, now and later. */
  cancel(
    reason: CancelReason = 'CANCELLED',
    details = new ActivityCancellationDetails({ cancelRequested: true }),
  ): void {
    this.#activity.cancel(reason, details);
  }

  run<P extends unknown[], R>(work: (...args: P) => Promise<R>, ...args: P): Promise<R>;
  run(work: (...args: unknown[]) => Promise<unknown>, ...args: unknown[]): Promise<unknown> {
    return this.#activity.runNoEncoding(work, { args, headers: {} });
  }
}
