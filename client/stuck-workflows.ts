import type { WorkflowExecutionInfo } from '@temporalio/client';
import { closest } from 'fastest-levenshtein';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { type ClientContext, queryText, callServer, messageOfFailure } from './server-calls.ts';
import { PlanwaveClientError } from './client-error.ts';
import { askAboutEach, listWorkflows } from './list-workflows.ts';
import { noticeLongHistory, commandText } from '../core/text/format.ts';
import { workflowTypes } from '../contracts/names.ts';

/** A workflow that no worker can carry on: its task fails again and again. It is not over. */
export interface StuckWorkflow {
  readonly workflow_id: string;
  /** The run it belongs to; its own id for a run. */
  readonly run_id: string;
  /** The worker's code does something else than the history says: the deploy was wrong, not the run. */
  readonly is_misfit: boolean;
  /**
   * `deploy`: it goes on by itself under the code that ran it before. `reset`: that code fails too, at something that it
   * received since, such as a signal; a reset that leaves signals out makes it go on. `retype`: its workflow type is misspelt,
   * so no code can ever run it.
   */
  readonly cure: 'deploy' | 'reset' | 'retype';
  /** The worker's error message; for a misspelt type, what is misspelt and the nearest name. */
  readonly reason: string;
}

/** More are not counted: that many mean a wrong deploy, whatever their number. */
const stuckMax = 100;

/**
 * Finds what is stuck in a run: the run itself at once, and its children when the server has seen their tasks fail so often
 * that it reports them (`TemporalReportedProblems`; by default five times in a row).
 */
export async function findStuck(
  context: ClientContext,
  runId: string,
): Promise<readonly StuckWorkflow[]> {
  const [own, reported] = await Promise.all([
    findOwnFault(context, runId),
    listStuck(context, runId),
  ]);
  const children = reported.filter(({ workflow_id }) => workflow_id !== runId);
  return own === null ? children : [own, ...children];
}

/**
 * Every stuck workflow that the server reports, or those of one run.
 *
 * @returns an empty list also where the server is too old to report any.
 */
export async function listStuck(
  context: ClientContext,
  runId?: string,
): Promise<readonly StuckWorkflow[]> {
  const ofRun = runId === undefined ? '' : ` AND PlanwaveRun = ${queryText(runId)}`;
  const query = `ExecutionStatus = 'Running' AND TemporalReportedProblems IS NOT NULL${ofRun}`;
  try {
    const found = await listWorkflows(context, query, stuckMax);
    const explained = await askAboutEach(context, found, (info) => explain(context, info));
    return explained.filter((stuck) => stuck !== null);
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'bad_input') return [];
    throw error;
  }
}

/** An open workflow whose history comes near the limits of the server. */
export interface LongHistory {
  readonly workflow_id: string;
  readonly notice: string;
}

/** Describes each open workflow, because the server's lists know only the sizes of closed ones. */
export async function listLongHistories(context: ClientContext): Promise<readonly LongHistory[]> {
  const query = "ExecutionStatus = 'Running' AND PlanwaveRun IS NOT NULL";
  const open = await listWorkflows(context, query, stuckMax);
  const found = await askAboutEach(context, open, async ({ workflowId }) => {
    const { historyLength, historySize } = await context.lists.getHandle(workflowId).describe();
    const notice = noticeLongHistory(historyLength, historySize ?? 0);
    return notice === null ? [] : [{ workflow_id: workflowId, notice }];
  });
  return found.flat();
}

/** One line: what does not go on, why, and what to do. */
export function describeStuck(stuck: StuckWorkflow): string {
  const { workflow_id, is_misfit, reason } = stuck;
  if (stuck.cure === 'retype') {
    const end = commandText('temporal', 'workflow', 'terminate', '--workflow-id', workflow_id);
    return `Misspelt: ${workflow_id} was started as ${reason} Try: ${end}, then start it again`;
  }
  if (stuck.cure === 'reset') {
    return (
      `Stuck: something that ${workflow_id} received breaks it (${reason}). The code that ran it before fails too, so ` +
      `earlier code does not help. Try: ${resetCommand(workflow_id)}, or a newer planwave that accepts it`
    );
  }
  const what = is_misfit
    ? `Stuck: the worker's code does not fit the history of ${workflow_id}`
    : `Stuck: the worker fails at ${workflow_id}`;
  const cure = is_misfit
    ? `go back to the code that ran it before, and see ${commandText('doctor', '--replay')} before the next deploy`
    : "go back to the code that ran it before, or read the worker's log";
  return `${what} (${reason}). Nothing is lost, and it continues by itself under compatible code. Try: ${cure}`;
}

/** Writes the command that goes back to the last completed task and leaves out the signals since then. */
function resetCommand(workflowId: string): string {
  const how = '--type LastWorkflowTask --reapply-exclude Signal --reason stuck'.split(' ');
  return commandText('temporal', 'workflow', 'reset', '--workflow-id', workflowId, ...how);
}

/** @returns null for a workflow that goes on already: the server's list is a moment behind. */
async function explain(
  context: ClientContext,
  { workflowId, type, typedSearchAttributes }: WorkflowExecutionInfo,
): Promise<StuckWorkflow | null> {
  const read = (name: string): unknown =>
    typedSearchAttributes.getAll().find(({ key }) => key.name === name)?.value;
  const runId = read('PlanwaveRun');
  const id = typeof runId === 'string' ? runId : workflowId;
  const problems = String(read('TemporalReportedProblems'));
  const timeouts = problems.includes('TimedOut')
    ? { isMisfit: false, isSameCode: false, reason: problems }
    : null;
  const failure = (await readTaskFailure(context, workflowId)) ?? timeouts;
  if (failure === null) return null;
  return describeMisspelt(workflowId, type) ?? toStuck(workflowId, id, failure);
}

/** Without a workflow task in progress nothing waits for a worker. */
async function findOwnFault(
  context: ClientContext,
  workflowId: string,
): Promise<StuckWorkflow | null> {
  return callServer(context, workflowId, async () => {
    const { raw, type, status } = await context.lists.getHandle(workflowId).describe();
    const misspelt = status.name === 'RUNNING' ? describeMisspelt(workflowId, type) : null;
    if (misspelt !== null || !raw.pendingWorkflowTask) return misspelt;
    const failure = await readTaskFailure(context, workflowId);
    return failure === null ? null : toStuck(workflowId, workflowId, failure);
  });
}

/** @returns null when planwave has the workflow type */
export function describeMisspelt(workflowId: string, type: string): StuckWorkflow | null {
  const types = Object.values(workflowTypes);
  if (types.some((known) => known === type)) return null;
  const reason =
    `the workflow type "${type}", which planwave does not have. ` +
    `The nearest is "${closest(type, types)}"; there are: ${types.join(', ')}.`;
  const ids = { workflow_id: workflowId, run_id: workflowId };
  return { ...ids, is_misfit: false, cure: 'retype', reason };
}

function toStuck(
  workflowId: string,
  runId: string,
  { isMisfit, isSameCode, reason }: TaskFailure,
): StuckWorkflow {
  const cure = isSameCode ? 'reset' : 'deploy';
  return { workflow_id: workflowId, run_id: runId, is_misfit: isMisfit, cure, reason };
}

/** Reason why a worker could not carry a workflow on. */
interface TaskFailure {
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
async function readTaskFailure(
  { connection, namespace, codec }: ClientContext,
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
    reason: cleanReason(
      (await messageOfFailure(codec, newest.failure ?? {})) ?? 'without a reason',
    ),
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
