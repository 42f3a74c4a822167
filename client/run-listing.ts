import type { WorkflowExecutionInfo } from '@temporalio/client';
import { memoKeys } from '../contracts/names.ts';
import type { searchAttributes } from '../contracts/names.ts';

export type ExecutionState =
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'terminated'
  | 'timed_out'
  | 'unknown';

/** What the server itself knows of a run, from memo and search attributes: readable with every worker off. */
export interface RunListing {
  readonly run_id: string;
  readonly goal: string;
  /** State of the workflow execution. Only `running` takes messages. */
  readonly execution: ExecutionState;
  /** As last recorded by a worker, or null when none has recorded it. */
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
}

export function toRunListing(info: Omit<WorkflowExecutionInfo, 'raw'>): RunListing {
  const attributes = new Map<string, unknown>(
    info.typedSearchAttributes.getAll().map((pair) => [pair.key.name, pair.value]),
  );
  const memo = info.memo ?? {};
  const count = (name: keyof typeof searchAttributes): number | null =>
    numberOrNull(attributes.get(name));
  return {
    run_id: info.workflowId,
    goal: textOrNull(memo[memoKeys.goal]) ?? '',
    execution: executionStates[info.status.name] ?? 'unknown',
    phase: textOrNull(attributes.get('PlanwavePhase')) ?? textOrNull(memo[memoKeys.phase]),
    wave: count('PlanwaveWave'),
    open_questions: count('PlanwaveOpenQuestions'),
    cost_usd: count('PlanwaveCostUsd'),
    waiting_for: textList(memo[memoKeys.waitingFor]),
    started_at: epochSeconds(info.startTime),
    closed_at: info.closeTime ? epochSeconds(info.closeTime) : null,
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
