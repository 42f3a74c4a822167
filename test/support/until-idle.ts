import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { eventually } from './eventually.ts';

/**
 * Waits until a run can't continue without a message: neither it nor an open workflow below it has an activity or a
 * workflow task, and none of them had one at the previous look. One look alone could fall between two activities.
 */
export async function untilIdle({ client }: { readonly client: Client }, rootId: string) {
  await untilSame(`nothing at work in ${rootId}`, client, rootId, async (seen) =>
    seen.every(isIdle),
  );
}

/** Pauses and resumes a run until a workflow below it, or the run itself, has more than so many events. */
export async function untilFull(
  run: Pick<WorkflowHandle, 'signal'>,
  workflow: Pick<WorkflowHandle, 'describe'>,
  events: number,
): Promise<void> {
  await eventually('a full history', async () => {
    await run.signal('pause', { reason: 'a look' });
    await run.signal('resume', {});
    return (await workflow.describe()).historyLength > events;
  });
}

/** Waits until a run and the open workflows below it are as at the previous look, and what is wanted of them holds. */
async function untilSame(
  what: string,
  client: Client,
  rootId: string,
  isWanted: (seen: readonly WorkflowExecutionDescription[]) => Promise<boolean>,
): Promise<void> {
  let before = '';
  await eventually(what, async () => {
    const seen = await describeOpen(client, rootId);
    if (seen === null) return false;
    const now = seen
      .map(({ workflowId, historyLength }) => `${workflowId} ${historyLength}`)
      .join();
    const isSame = now === before;
    before = now;
    return isSame && isWanted(seen);
  });
}

/** Waits until no worker computes for a run: neither it nor an open workflow below it has a workflow task. */
export async function untilDecided({ client }: { readonly client: Client }, rootId: string) {
  await eventually(`no workflow task in ${rootId}`, async () => {
    const seen = await describeOpen(client, rootId);
    return seen?.every(({ raw }) => !raw.pendingWorkflowTask);
  });
}

/** Waits until nothing but model calls is at work in a run and below it: no worker computes or writes for it. */
export async function untilOnlyCalls({ client }: { readonly client: Client }, rootId: string) {
  await eventually(`nothing but model calls in ${rootId}`, async () => {
    const seen = await describeOpen(client, rootId);
    return seen?.every(
      ({ raw }) =>
        !raw.pendingWorkflowTask &&
        (raw.pendingActivities ?? []).every(
          ({ activityType }) => activityType?.name === 'modelTurn',
        ),
    );
  });
}

/** Returns true when a workflow waits for something from outside. */
export function isIdle({ raw }: WorkflowExecutionDescription): boolean {
  return (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask;
}

/**
 * Waits until the run and the open workflows below it have read all that they told each other: no signal between them is
 * under way, and none of them has a workflow task. Activities may be at work.
 */
export async function untilTold({ client }: { readonly client: Client }, rootId: string) {
  await untilSame(`no message under way in ${rootId}`, client, rootId, async (seen) => {
    if (seen.some(({ raw }) => raw.pendingWorkflowTask)) return false;
    const underWay = await Promise.all(seen.map((one) => countUnderWay(client, one)));
    return underWay.every((count) => count === 0);
  });
}

/** Counts the signals that a workflow has sent and the server has not delivered yet. */
async function countUnderWay(
  client: Client,
  { workflowId, runId }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>,
): Promise<number> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).reduce((count, event) => {
    if (event.signalExternalWorkflowExecutionInitiatedEventAttributes) return count + 1;
    const isOver =
      event.externalWorkflowExecutionSignaledEventAttributes ??
      event.signalExternalWorkflowExecutionFailedEventAttributes;
    return isOver ? count - 1 : count;
  }, 0);
}

/** Waits until a signal of this name is in the history of a workflow, which reads it before all that comes later. */
export async function untilSignaled(
  { client }: { readonly client: Client },
  workflowId: string,
  signalName: string,
) {
  await eventually(`the signal ${signalName} to ${workflowId}`, async () => {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    return events?.some(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === signalName,
    );
  });
}

/** @returns null while a child is wanted that the server has not started yet, or whose parent has not heard of its start. */
async function describeOpen(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription[] | null> {
  const root = await client.workflow.getHandle(workflowId).describe();
  const wanted = root.raw.pendingChildren ?? [];
  if (wanted.some((child) => !child.runId)) return null;
  const children = wanted.map((child) => child.workflowId ?? '');
  const below: WorkflowExecutionDescription[] = [];
  for (const child of children) {
    // One after the other: there are few.
    // oxlint-disable-next-line no-await-in-loop
    const found = await describeOpen(client, child).catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    });
    if (found === null) return null;
    below.push(...found);
  }
  return [root, ...below];
}
