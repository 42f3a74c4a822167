import { ChildWorkflowCancellationType } from '@temporalio/workflow';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import { workflowTaskTimeoutMs } from '../../contracts/names.ts';
import { childSearchAttributes } from './visibility.ts';

/**
 * Returns the start options of every workflow below a run.
 *
 * Its id names its place in the run, so an older workflow with that id belongs to a history that was reset; it would
 * only waste money and is terminated. For a child the server offers only the reuse policy for this.
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
