import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { ClientContext } from './client-context.ts';

/** Why a worker could not carry a workflow on. */
export interface TaskFailure {
  readonly isMisfit: boolean;
  /**
   * The build that completed the workflow's last task fails at the next one, so what came in between breaks it and no
   * earlier code can help. False also when the history does not say which builds they were.
   */
  readonly isSameCode: boolean;
  readonly reason: string;
}

/** Temporal's `WorkflowTaskFailedCause`, by number. */
const causes = {
  /** A message came while the workflow ended: the server gives the task back, which is no failure. */
  unhandledCommand: 1,
  nonDeterministic: 24,
} as const;

/** Enough to reach the newest workflow tasks: while one fails, only what comes in meanwhile follows it. */
const eventsMax = 200;

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
  const events = history?.events ?? [];
  const newest = events.find(isVerdict)?.workflowTaskFailedEventAttributes;
  if (!newest) return null;
  const completed = events.find((event) => event.workflowTaskCompletedEventAttributes);
  const failedBuild = buildOf(events, newest.startedEventId);
  const isMisfit = causeOf(newest.cause) === causes.nonDeterministic;
  return {
    isMisfit,
    isSameCode:
      !isMisfit &&
      failedBuild !== null &&
      failedBuild ===
        buildOf(events, completed?.workflowTaskCompletedEventAttributes?.startedEventId),
    reason: cleanReason(newest.failure?.message ?? 'without a reason'),
  };
}

type HistoryEvent = NonNullable<History['events']>[number];

/** Tells whether the event says how a workflow task ended. */
function isVerdict(event: HistoryEvent): boolean {
  const failed = event.workflowTaskFailedEventAttributes;
  return failed
    ? causeOf(failed.cause) !== causes.unhandledCommand
    : Boolean(event.workflowTaskCompletedEventAttributes);
}

/** The SDK types the number as an enum that it does not export. */
function causeOf(cause: number | null | undefined): number {
  return cause ?? causes.unhandledCommand;
}

/** The build id of the worker that began the task, or null where the history does not have it. */
function buildOf(
  events: readonly HistoryEvent[],
  startedEventId: HistoryEvent['eventId'],
): string | null {
  const started = events.find(({ eventId }) => String(eventId) === String(startedEventId));
  const buildId = started?.workflowTaskStartedEventAttributes?.workerVersion?.buildId;
  return buildId === undefined || buildId === '' ? null : buildId;
}

/** In one line, without the SDK's own heading. */
function cleanReason(message: string): string {
  return message
    .replace(/^\[TMPRL\d+\] (?:Nondeterminism error: )?/, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/\.$/, '');
}
