import { ChildWorkflowCancellationType } from '@temporalio/workflow';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import { workflowTaskTimeoutMs } from '../../contracts/names.ts';
import { childSearchAttributes } from './visibility.ts';

/**
 * How every workflow below a run is started.
 *
 * Its id names its place in the run, so whoever has it already does work of a history that was reset since: that is over,
 * and would only spend. Of a child the server lets this be said by the reuse policy alone.
 *
 * @param summary Shown in the Web UI.
 */
export function childOptions(runId: string, summary: string): Partial<ChildWorkflowOptions> {
  return {
    workflowIdReusePolicy: 'TERMINATE_IF_RUNNING',
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    staticSummary: summary,
    typedSearchAttributes: childSearchAttributes(runId),
  };
}
