import type { ClientContext } from './client-context.ts';

/** Why a worker could not carry a workflow on. */
export interface TaskFailure {
  readonly isMisfit: boolean;
  readonly reason: string;
}

/** Temporal's `WorkflowTaskFailedCause`, by number. */
const causes = {
  /** A message came while the workflow ended: the server gives the task back, which is no failure. */
  unhandledCommand: 1,
  nonDeterministic: 24,
} as const;

/** Enough to reach the newest workflow task: between two of them there are a signal or two, seldom more. */
const eventsMax = 50;

/** The failure of the newest workflow task, or null when it did not fail. Only the first of many is in history. */
export async function readTaskFailure(
  { connection, namespace }: ClientContext,
  workflowId: string,
): Promise<TaskFailure | null> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId },
    maximumPageSize: eventsMax,
  });
  for (const event of history?.events ?? []) {
    if (event.workflowTaskCompletedEventAttributes) return null;
    const failed = event.workflowTaskFailedEventAttributes;
    const cause: number = failed?.cause ?? causes.unhandledCommand;
    if (!failed || cause === causes.unhandledCommand) continue;
    return {
      isMisfit: cause === causes.nonDeterministic,
      reason: cleanReason(failed.failure?.message ?? 'without a reason'),
    };
  }
  return null;
}

/** In one line, without the SDK's own heading. */
function cleanReason(message: string): string {
  return message
    .replace(/^\[TMPRL\d+\] (?:Nondeterminism error: )?/, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/\.$/, '');
}
