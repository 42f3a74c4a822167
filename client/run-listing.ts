import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { commandText, formatDollars, formatLeastDollars } from '../core/text/format.ts';
import { memoKeys, workflowTypes, type searchAttributes } from '../contracts/names.ts';
import type { StoreIdentity } from '../contracts/store.ts';
import { type ClientContext, callServer, queryText } from './server-calls.ts';
import { listStuck, type StuckWorkflow } from './stuck-workflows.ts';
import { ifFound, PlanwaveClientError } from './client-error.ts';
import { readRunLoad, readStoreIdentity } from '../core/run/run-place.ts';
import type { RunLoad } from '../contracts/limits.ts';

type ExecutionState =
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'terminated'
  | 'timed_out'
  | 'unknown';

/** State of a run as the server knows it, from memo and search attributes: readable with every worker off. */
export interface RunListing {
  readonly run_id: string;
  /** Such as `plannerRun` or `evaluation`. */
  readonly workflow_type: string;
  readonly goal: string;
  /** State of the workflow execution. Only `running` takes messages. */
  readonly execution: ExecutionState;
  /**
   * Phase last recorded by a worker, or null when none has recorded it. Of a run that failed or was cut off, the same as
   * `execution`: no worker records that.
   */
  readonly phase: string | null;
  readonly wave: number | null;
  readonly open_questions: number | null;
  readonly cost_usd: number | null;
  readonly waiting_for: readonly string[];
  /** Unix epoch seconds. */
  readonly started_at: number;
  readonly closed_at: number | null;
  /** Worker version that the run is pinned to, as `<deployment>:<build>`, or null without worker versioning. */
  readonly version: string | null;
  /** Only workers that poll it carry the run on. */
  readonly task_queue: string;
  /** The store in which it is kept; null until its input is read. */
  readonly store: StoreIdentity | null;
  /** Its place in the queues; null without one. */
  readonly load: RunLoad | null;
}

export function toRunListing(info: Omit<WorkflowExecutionInfo, 'raw'>): RunListing {
  const attributes = new Map<string, unknown>(
    info.typedSearchAttributes.getAll().map((pair) => [pair.key.name, pair.value]),
  );
  const memo = info.memo ?? {};
  const count = (name: keyof typeof searchAttributes): number | null =>
    numberOrNull(attributes.get(name));
  const execution = executionStates[info.status.name] ?? 'unknown';
  const recorded = textOrNull(attributes.get('PlanwavePhase')) ?? textOrNull(memo[memoKeys.phase]);
  return {
    run_id: info.workflowId,
    workflow_type: info.type,
    goal: textOrNull(memo[memoKeys.goal]) ?? '',
    execution,
    phase: cutOff.has(execution) ? execution : recorded,
    wave: count('PlanwaveWave'),
    open_questions: count('PlanwaveOpenQuestions'),
    cost_usd: count('PlanwaveCostUsd'),
    waiting_for: textList(memo[memoKeys.waitingFor]),
    started_at: epochSeconds(info.startTime),
    closed_at: info.closeTime ? epochSeconds(info.closeTime) : null,
    task_queue: info.taskQueue,
    store: readStoreIdentity(memo[memoKeys.store]),
    load: readRunLoad(memo[memoKeys.load]),
    version: textOrNull(attributes.get('TemporalWorkerDeploymentVersion')),
  };
}

/** A run that is paused by the Temporal CLI still takes messages. */
const executionStates: Readonly<Record<string, ExecutionState>> = {
  RUNNING: 'running',
  PAUSED: 'running',
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
};

/** States in which the last phase that a worker recorded is not the last state of the run. */
const cutOff: ReadonlySet<ExecutionState> = new Set([
  'failed',
  'cancelled',
  'terminated',
  'timed_out',
]);

function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** One line or many: memo is written by hand-started workflows too. */
function textList(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function isEvaluation({ workflow_type }: Pick<RunListing, 'workflow_type'>): boolean {
  return workflow_type === workflowTypes.evaluation;
}

/** Says who takes messages in place of an evaluation. */
export function describeCells(evaluationId: string): string {
  return (
    `${evaluationId} is an evaluation: its runs, whose ids begin with ${evaluationId}-, have questions and take answers and instructions. ` +
    `Try: ${commandText('questions')}, and once it has ended ${commandText('report', evaluationId)}`
  );
}

/**
 * Refuses what only agents would read: an evaluation has none, its runs do.
 *
 * @throws PlanwaveClientError `refused`.
 */
export function refuseEvaluation(run: Pick<RunListing, 'run_id' | 'workflow_type'>): void {
  if (!isEvaluation(run)) return;
  throw new PlanwaveClientError('refused', describeCells(run.run_id));
}

export interface ListedRun extends RunListing {
  /** The run, or the first of its children, when no worker can carry it on. */
  readonly stuck: StuckWorkflow | null;
}

export interface ListOptions {
  /** Most runs to return; Infinity for all. If undefined: 50. */
  readonly limit?: number | undefined;
  /** Only runs that have not ended. */
  readonly open?: boolean | undefined;
  /** Only runs that stand still until a person does something. */
  readonly waiting?: boolean | undefined;
}

const ofOurs = `WorkflowType IN (${Object.values(workflowTypes).map(queryText).join(', ')})`;

/**
 * Builds the visibility query for what people started: runs, and waves, delegations, triads, phases and teams that no other
 * workflow began, and whatever else is on the task queue, since its type may be misspelt. Consultations and archivals are no runs. One that continued as new has
 * several executions under one id; only the newest counts.
 */
export function startedQuery(taskQueue: string): string {
  return (
    `(${ofOurs} OR TaskQueue = ${queryText(taskQueue)}) AND ParentWorkflowId IS NULL ` +
    `AND WorkflowType != ${queryText(workflowTypes.consultation)} ` +
    `AND WorkflowType != ${queryText(workflowTypes.archival)} ` +
    "AND ExecutionStatus != 'ContinuedAsNew'"
  );
}

function openQuery(taskQueue: string): string {
  return `${startedQuery(taskQueue)} AND ExecutionStatus = 'Running'`;
}

/**
 * Builds the visibility query for those that wait for a person: for an answer, or parked until their cause is removed. Also the
 * runs of an evaluation, and those that a workflow of the user's started.
 */
export function waitingQuery(): string {
  // Only planwave sets these attributes, and only for what people steer, so the link to the inbox needs no list of types.
  return `ExecutionStatus = 'Running' AND (PlanwaveOpenQuestions > 0 OR PlanwavePhase = 'parked')`;
}

export async function listRuns(
  context: ClientContext,
  options: ListOptions,
): Promise<readonly ListedRun[]> {
  const limit = options.limit ?? 50;
  const ofState = options.open === true ? openQuery : startedQuery;
  const query = options.waiting === true ? waitingQuery() : ofState(context.taskQueue);
  const runs = await callServer(context, null, async () => {
    const found: RunListing[] = [];
    for await (const info of context.lists.list({ query, pageSize: Math.min(limit, 1_000) })) {
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

/** Lists the ids of a tenant's open runs that are parked. */
export async function listParked(
  context: ClientContext,
  tenant: string,
): Promise<readonly string[]> {
  const query =
    `TaskQueue = ${queryText(context.taskQueue)} AND ExecutionStatus = 'Running' ` +
    "AND PlanwavePhase = 'parked'";
  const list = context.lists.list({ query, pageSize: 1_000 })[Symbol.asyncIterator]();
  const found: string[] = [];
  for (;;) {
    const next = await callServer(context, null, () => list.next());
    if (next.done === true) return found;
    const { run_id, load } = toRunListing(next.value);
    if (load?.tenant === tenant) found.push(run_id);
  }
}

/** Formats the cost that the server knows: while a run works, that of its finished waves. Empty when that is nothing yet. */
export function formatSpent({ cost_usd, execution }: RunListing): string {
  if (cost_usd === null) return '';
  // A search attribute holds dollars.
  const microUsd = Math.round(cost_usd * 1_000_000);
  if (execution !== 'running') return formatDollars(microUsd);
  return microUsd === 0 ? '' : formatLeastDollars(microUsd);
}

export interface OpenHistory {
  readonly workflowId: string;
  readonly history: History;
}

/** Milliseconds for one history, which may have many megabytes, and for a page of the list. */
const timeoutMs = 60_000;

/** Those that end meanwhile are read too; those that are deleted meanwhile are left out. */
export async function* readOpenHistories(
  context: ClientContext,
): AsyncIterableIterator<OpenHistory> {
  const query =
    `ExecutionStatus = 'Running' AND TaskQueue = ${queryText(context.taskQueue)} ` +
    `AND ${ofOurs}`;
  const list = context.lists.list({ query, pageSize: 1_000 })[Symbol.asyncIterator]();
  for (;;) {
    const next = await callServer(context, null, () => list.next(), timeoutMs);
    if (next.done === true) return;
    const { workflowId, runId } = next.value;
    const handle = context.workflows.getHandle(workflowId, runId);
    const history = await ifFound(
      callServer(context, workflowId, () => handle.fetchHistory(), timeoutMs),
    );
    if (history !== null) yield { workflowId, history };
  }
}
