import type { ApplicationFailure } from '@temporalio/common';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { FailureType } from '../contracts/errors.ts';
import { askAboutEach, listWorkflows } from './list-workflows.ts';
import { queryText, type ClientContext } from './server-calls.ts';

/** An activity that is tried again and again, because no worker that took it could read or write its run's store. */
export interface StoreWait {
  readonly run_id: string;
  readonly workflow_id: string;
  readonly activity_type: string;
  readonly attempts: number;
  /** Words of the last worker: which store, why, and what to try. */
  readonly reason: string;
}

/** More open workflows are not looked at: that many waits have one cause. */
const workflowsMax = 100;

const storeUnavailable: FailureType = 'StoreUnavailable';

/**
 * Finds what waits for a store, in one run or in all. The server alone knows it: the workflow learns of a failure only when
 * the attempts are used up.
 */
export async function findStoreWaits(
  context: ClientContext,
  runId: string | undefined,
): Promise<readonly StoreWait[]> {
  const ofRun = runId === undefined ? 'IS NOT NULL' : `= ${queryText(runId)}`;
  const query = `ExecutionStatus = 'Running' AND PlanwaveRun ${ofRun}`;
  const open = await listWorkflows(context, query, workflowsMax);
  const found = await askAboutEach(context, open, ({ workflowId, typedSearchAttributes }) => {
    const run = typedSearchAttributes.getAll().find(({ key }) => key.name === 'PlanwaveRun');
    return readWaits(context, workflowId, String(run?.value));
  });
  return found.flat();
}

async function readWaits(
  { lists }: ClientContext,
  workflow_id: string,
  run_id: string,
): Promise<readonly StoreWait[]> {
  const { raw } = await lists.getHandle(workflow_id).describe();
  const waits = (raw.pendingActivities ?? []).map(async (pending) => {
    const failure = await decodeOptionalFailureToOptionalError(
      lists.options.loadedDataConverter,
      pending.lastFailure,
    );
    if (!isStoreFault(failure)) return [];
    const activity_type = pending.activityType?.name ?? '';
    // The attempt that is waited for has not been made.
    const attempts = Math.max(1, (pending.attempt ?? 1) - 1);
    return [{ run_id, workflow_id, activity_type, attempts, reason: failure.message }];
  });
  return (await Promise.all(waits)).flat();
}

function isStoreFault(failure: Error | undefined): failure is ApplicationFailure {
  return failure !== undefined && 'type' in failure && failure.type === storeUnavailable;
}

/** One line: what waits, and why. */
export function describeStoreWait({ run_id, workflow_id, attempts, ...wait }: StoreWait): string {
  const where = workflow_id === run_id ? '' : ` of ${workflow_id}`;
  return `waits for its store: ${wait.activity_type}${where} was refused ${attempts} times. ${wait.reason}`;
}
