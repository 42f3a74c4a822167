import { WorkflowNotFoundError } from '@temporalio/common';
import { queryNames } from '../contracts/names.ts';
import type { ClientContext } from './client-context.ts';

/** Shown beside other things that are ready sooner, so nobody waits long for it. */
const statusTimeoutMs = 1_500;

export type StatusAnswer<T> =
  /** `view` is null before the workflow has anything to tell; so it is before it has begun. */
  | { readonly isTold: true; readonly view: T | null }
  /** No worker answered in time. */
  | { readonly isTold: false };

/** Asks a workflow for its `status`. Never throws. */
export async function askStatus<T>(
  context: ClientContext,
  workflowId: string,
  query: string = queryNames.status,
): Promise<StatusAnswer<T>> {
  try {
    const view = await context.connection.withDeadline(Date.now() + statusTimeoutMs, () =>
      context.workflows.getHandle(workflowId).query<T | null>(query),
    );
    return { isTold: true, view };
  } catch (error) {
    return error instanceof WorkflowNotFoundError
      ? { isTold: true, view: null }
      : { isTold: false };
  }
}
