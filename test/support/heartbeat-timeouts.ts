import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from './eventually.ts';
import type { StoredHistory } from './histories.ts';
import type { RecordedCall } from '../../rehearsal/script.ts';
import type { Stage } from './stage.ts';

/** Returns the workflow that made a model call. */
export function callerOf({ client }: Stage, call: RecordedCall): WorkflowHandle {
  // Its id is followed by the agent, the shape and the number of the activity.
  return client.workflow.getHandle(call.callKey.split('/').slice(0, -3).join('/'));
}

/** Waits until the server has given an attempt up, because its heartbeats stopped, and wants another one. */
export function untilGivenUp(stage: Stage, call: RecordedCall): Promise<unknown> {
  return eventually(
    'a heartbeat timeout',
    async () => {
      const { raw } = await callerOf(stage, call).describe();
      return raw.pendingActivities?.some(({ attempt }) => Number(attempt) > 1);
    },
    60_000,
  );
}

/** Counts the activities that continued after a heartbeat timeout. */
export function countHeartbeatTimeouts(histories: readonly StoredHistory[]): number {
  return histories
    .flatMap(({ history }) => history.events ?? [])
    .map((event) => event.activityTaskStartedEventAttributes?.lastFailure)
    .filter((failure) => /heartbeat/i.test(failure?.message ?? '')).length;
}
