import { patched, workflowInfo } from '@temporalio/workflow';
import { engineLimits } from '../../core/limits.ts';

/**
 * Returns true when a workflow should continue as new: the server suggests it, or another worker might not replay the
 * history within a workflow task's timeout, and then the run would stand still.
 */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return (
    continueAsNewSuggested ||
    (historyLength >= engineLimits.historyEventsMax && patched('short-history'))
  );
}
