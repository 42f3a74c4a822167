import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { eventually } from './eventually.ts';

/**
 * Waits until a run can't continue without a message: neither it nor an open workflow below it has an activity or a
 * workflow task, and none of them had one at the previous look. One look alone could fall between two activities.
 */
export async function untilIdle({ client }: { readonly client: Client }, rootId: string) {
  let before = '';
  await eventually(`nothing at work in ${rootId}`, async () => {
    const seen = await describeOpen(client, rootId);
    if (seen === null) return false;
    const now = seen
      .map(({ workflowId, historyLength }) => `${workflowId} ${historyLength}`)
      .join();
    const isSame = now === before;
    before = now;
    return isSame && seen.every(isIdle);
  });
}

/** Waits until no worker computes for a run: neither it nor an open workflow below it has a workflow task. */
export async function untilDecided({ client }: { readonly client: Client }, rootId: string) {
  await eventually(`no workflow task in ${rootId}`, async () => {
    const seen = await describeOpen(client, rootId);
    return seen?.every(({ raw }) => !raw.pendingWorkflowTask);
  });
}

/** Returns true when a workflow waits for something from outside. */
export function isIdle({ raw }: WorkflowExecutionDescription): boolean {
  return (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask;
}

/** @returns null while a child is wanted that the server has not started yet. */
async function describeOpen(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription[] | null> {
  const root = await client.workflow.getHandle(workflowId).describe();
  const children = (root.raw.pendingChildren ?? []).map((child) => child.workflowId ?? '');
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
