import { workflowTypes } from '../contracts/names.ts';
import type { ClientContext } from './client-context.ts';
import { toRunListing } from './run-listing.ts';
import type { RunListing } from './run-listing.ts';
import { callServer } from './server-calls.ts';
import { listStuck } from './stuck-workflows.ts';
import type { StuckWorkflow } from './stuck-workflows.ts';

export interface ListedRun extends RunListing {
  /** The run, or the first of its children, when no worker can carry it on. */
  readonly stuck: StuckWorkflow | null;
}

export interface ListOptions {
  /** Most runs to return. If undefined: 50. */
  readonly limit?: number | undefined;
  /** Only runs that have not ended. */
  readonly open?: boolean | undefined;
}

/**
 * What a person started: runs, and waves, delegations, triads, phases and teams that no other workflow began. One that
 * continued as new has several executions under one id; only the newest counts.
 */
const types = Object.values(workflowTypes).map((type) => `'${type}'`);
const isRun = `WorkflowType IN (${types.join(', ')}) AND ParentWorkflowId IS NULL AND ExecutionStatus != 'ContinuedAsNew'`;

export async function listRuns(
  context: ClientContext,
  options: ListOptions,
): Promise<readonly ListedRun[]> {
  const limit = options.limit ?? 50;
  const query = options.open === true ? `${isRun} AND ExecutionStatus = 'Running'` : isRun;
  const runs = await callServer(context, null, async () => {
    const found: RunListing[] = [];
    for await (const info of context.workflows.list({ query, pageSize: Math.min(limit, 1_000) })) {
      if (found.length >= limit) break;
      found.push(toRunListing(info));
    }
    return found;
  });
  const isAnyAtWork = runs.some(({ execution }) => execution === 'running');
  const stuck = isAnyAtWork ? await listStuck(context) : [];
  return runs.map((run) => ({
    ...run,
    stuck: stuck.find(({ run_id }) => run_id === run.run_id) ?? null,
  }));
}
