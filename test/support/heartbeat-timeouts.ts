import { WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from './eventually.ts';
import type { StoredHistory } from './histories.ts';
import type { RecordedCall } from '../../rehearsal/script.ts';
import type { Stage } from './stage.ts';

/** Returns the workflow that made a model call: a delegation with a workflow of its own, or the wave around it. */
export async function callerOf({ client }: Stage, call: RecordedCall): Promise<WorkflowHandle> {
  // Its id is followed by the agent, the shape and the number of the activity.
  for (const path = call.callKey.split('/').slice(0, -3); path.length > 0; path.pop()) {
    const handle = client.workflow.getHandle(path.join('/'));
    const found = await handle.describe().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    });
    if (found !== null) return handle;
  }
  throw new Error(`No workflow made the call ${call.callKey}.`);
}

/** Waits until the server has given an attempt up, because its heartbeats stopped, and wants another one. */
export function untilGivenUp(stage: Stage, call: RecordedCall): Promise<unknown> {
  return eventually('a heartbeat timeout', async () => {
    const { raw } = await (await callerOf(stage, call)).describe();
    return raw.pendingActivities?.some(({ attempt }) => Number(attempt) > 1);
  });
}

/** Counts the activities that continued after a heartbeat timeout. */
export function countHeartbeatTimeouts(histories: readonly StoredHistory[]): number {
  return histories
    .flatMap(({ history }) => history.events ?? [])
    .map((event) => event.activityTaskStartedEventAttributes?.lastFailure)
    .filter((failure) => /heartbeat/i.test(failure?.message ?? '')).length;
}
