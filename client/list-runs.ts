import { workflowTypes } from '../contracts/names.ts';
import type { ClientContext } from './client-context.ts';
import { toRunListing } from './run-listing.ts';
import type { RunListing } from './run-listing.ts';
import { callServer } from './server-calls.ts';

export interface ListOptions {
  /** Most runs to return. If undefined: 50. */
  readonly limit?: number | undefined;
  /** Only runs that have not ended. */
  readonly open?: boolean | undefined;
}

/** A run that continued as new has several executions under one id; only the newest is a run. */
const isRun = `WorkflowType = '${workflowTypes.plannerRun}' AND ExecutionStatus != 'ContinuedAsNew'`;

export async function listRuns(
  context: ClientContext,
  options: ListOptions,
): Promise<readonly RunListing[]> {
  const limit = options.limit ?? 50;
  const query = options.open === true ? `${isRun} AND ExecutionStatus = 'Running'` : isRun;
  return callServer(context, null, async () => {
    const runs: RunListing[] = [];
    for await (const info of context.workflows.list({ query, pageSize: Math.min(limit, 1_000) })) {
      if (runs.length >= limit) break;
      runs.push(toRunListing(info));
    }
    return runs;
  });
}
