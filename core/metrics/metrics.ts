/**
 * All metrics of planwave: name, unit, help and labels. A metric is declared here before it is counted or shown; a test
 * compares docs/metrics.md and the dashboard with this list.
 *
 * Invariants:
 *   MT1. Names follow the Prometheus conventions: prefix, base units, counters end in `_total`, one name each.
 *   MT2. A label's values are listed, or it names a part of the configuration. No label holds free text or a run's id.
 */
import { failureConsequences } from '../../contracts/errors.ts';
import { stageNames } from '../../contracts/names.ts';
import type { FailureType } from '../../contracts/errors.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import type { TaskStatus, TeamReport } from '../../contracts/team-run.ts';
import { refusalKinds } from '../team/team-state.ts';
import { failureReasons } from '../turns/turns-state.ts';
import type { ExecutorKind } from '../../contracts/delegation.ts';

/** Values of a label. `configured`: as many as the configuration names, such as agents; the code sets no bound. */
export type LabelValues = readonly string[] | 'configured';

/** Keyed by the label's name. */
type LabelList = Readonly<Record<string, LabelValues>>;

interface Declared<L extends LabelList> {
  readonly name: string;
  /** The unit at the end of the name; empty for counts of things. */
  readonly unit: 'seconds' | 'usd' | '';
  /** One sentence for people who have never seen the code. */
  readonly help: string;
  readonly labels: L;
}

export interface CounterMetric<L extends LabelList = LabelList> extends Declared<L> {
  readonly type: 'counter';
}

export interface GaugeMetric<L extends LabelList = LabelList> extends Declared<L> {
  readonly type: 'gauge';
}

export interface HistogramMetric<L extends LabelList = LabelList> extends Declared<L> {
  readonly type: 'histogram';
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export type Metric = CounterMetric | GaugeMetric | HistogramMetric;

export type LabelsOf<M extends Metric> = {
  readonly [Name in keyof M['labels']]: M['labels'][Name] extends readonly (infer Value extends
    string)[]
    ? Value
    : string;
};

const runStatuses = [
  'completed',
  'finished_unmet',
  'stopped',
  'abandoned',
] as const satisfies readonly RunStatus[];

const seatKinds = ['agent', 'triad', 'team'] as const satisfies readonly ExecutorKind[];

const taskStatuses = [
  'completed',
  'failed',
  'timed_out',
  'stopped',
  'skipped',
] as const satisfies readonly TaskStatus[];

/** `not_begun`: the team could not start, or was stopped before it did. */
const teamStatuses = [
  'done',
  'failed',
  'timed_out',
  'stopped',
  'blocked',
  'not_begun',
] as const satisfies readonly (TeamReport['status'] | 'not_begun')[];

/** Results of a model call: a reply, a cancellation, or a failure of this type. */
const isFailureType = (name: string): name is FailureType => name in failureConsequences;
const callResults: readonly ('replied' | 'aborted' | FailureType)[] = [
  'replied',
  'aborted',
  ...Object.keys(failureConsequences).filter(isFailureType),
];

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Buckets from a rehearsal's wave to one that waits for people over a weekend. */
const longSeconds = [1, 5, 15, 30, minute, 5 * minute, 15 * minute, hour, 6 * hour, day, 3 * day];

export const metrics = {
  runDuration: {
    type: 'histogram',
    name: 'planwave_run_duration_seconds',
    unit: 'seconds',
    help: 'Time from the start of a run to its end, including waits for people.',
    labels: { status: runStatuses },
    buckets: longSeconds,
  },
  waveDuration: {
    type: 'histogram',
    name: 'planwave_wave_duration_seconds',
    unit: 'seconds',
    help: 'Time from the start of a wave to its decision, including waits for people.',
    labels: { status: ['decided', 'stopped', 'abandoned', 'finished'] },
    buckets: longSeconds,
  },
  delegations: {
    type: 'counter',
    name: 'planwave_delegations_total',
    unit: '',
    help: 'Delegations that ended, by status.',
    labels: { agent: 'configured', status: ['completed', 'failed', 'stopped', 'skipped'] },
  },
  failures: {
    type: 'counter',
    name: 'planwave_failures_total',
    unit: '',
    help: 'Final failures of agents and of the planner, by reason.',
    labels: { agent: 'configured', reason: failureReasons },
  },
  teams: {
    type: 'counter',
    name: 'planwave_teams_total',
    unit: '',
    help: 'Teams that ended, by status. blocked: a guardrail blocked the answer; not_begun: the team could not start, or was stopped before.',
    labels: { status: teamStatuses },
  },
  teamTasks: {
    type: 'counter',
    name: 'planwave_team_tasks_total',
    unit: '',
    help: 'Tasks that leaders of teams delegated, by status at the end.',
    labels: { kind: seatKinds, status: taskStatuses },
  },
  teamTaskDuration: {
    type: 'histogram',
    name: 'planwave_team_task_duration_seconds',
    unit: 'seconds',
    help: 'Working time of a task of a team over all attempts, without waits for people.',
    labels: { kind: seatKinds },
    buckets: [1, 5, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute, hour],
  },
  teamRetries: {
    type: 'counter',
    name: 'planwave_team_task_retries_total',
    unit: '',
    help: 'Retries of failed tasks of teams.',
    labels: {},
  },
  teamBreakers: {
    type: 'counter',
    name: 'planwave_team_breakers_opened_total',
    unit: '',
    help: 'Circuit breakers that opened: a member failed several times in a row and gets no tasks for a while.',
    labels: { kind: seatKinds },
  },
  teamRefusals: {
    type: 'counter',
    name: 'planwave_team_refused_calls_total',
    unit: '',
    help: 'Calls of leaders that were refused, by reason.',
    labels: { reason: refusalKinds },
  },
  gateWait: {
    type: 'histogram',
    name: 'planwave_gate_wait_seconds',
    unit: 'seconds',
    help: 'Time from the plan of a wave to the start of a delegation, when its gate is open and a slot is free.',
    labels: {},
    buckets: longSeconds,
  },
  repairs: {
    type: 'counter',
    name: 'planwave_repair_rounds_total',
    unit: '',
    help: 'Calls that returned an invalid output to the model for repair.',
    labels: { agent: 'configured', stage: stageNames },
  },
  questionWait: {
    type: 'histogram',
    name: 'planwave_question_wait_seconds',
    unit: 'seconds',
    help: 'Time a question was open, by result.',
    labels: { result: ['answered', 'defaulted', 'withdrawn'] },
    buckets: [5, 30, minute, 5 * minute, 15 * minute, hour, 6 * hour, day, 3 * day, 7 * day],
  },
  openQuestions: {
    type: 'gauge',
    name: 'planwave_open_questions',
    unit: '',
    help: 'Open questions of all runs in the namespace that wait for a person. Every worker reports the same.',
    labels: {},
  },
  oldestQuestionAge: {
    type: 'gauge',
    name: 'planwave_oldest_question_age_seconds',
    unit: 'seconds',
    help: 'Age of the oldest open question of all runs, 0 when none is open. Every worker reports the same.',
    labels: {},
  },
  modelCallDuration: {
    type: 'histogram',
    name: 'planwave_model_call_duration_seconds',
    unit: 'seconds',
    help: 'Duration of one request to the model, by result.',
    labels: { model: 'configured', result: callResults },
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 20, 40, minute, 2 * minute, 5 * minute, 15 * minute],
  },
  tokens: {
    type: 'counter',
    name: 'planwave_tokens_total',
    unit: '',
    help: 'Tokens as the provider counts them. The three kinds of input add up to all input.',
    labels: { model: 'configured', kind: ['input', 'cache_creation', 'cache_read', 'output'] },
  },
  cost: {
    type: 'histogram',
    name: 'planwave_model_call_cost_usd',
    unit: 'usd',
    help: 'Cost of a billed call with a known price; the sum is the money spent.',
    labels: { model: 'configured' },
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  unpricedCalls: {
    type: 'counter',
    name: 'planwave_unpriced_calls_total',
    unit: '',
    help: 'Calls that may have been billed at an unknown price. Above 0, the cost is a lower bound.',
    labels: { model: 'configured' },
  },
  redactions: {
    type: 'counter',
    name: 'planwave_redactions_total',
    unit: '',
    help: 'Secrets that were removed before something was stored or shown, by rule and place.',
    labels: { rule: 'configured', sink: 'configured' },
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** All metrics, in the order of the document. */
export const allMetrics: readonly Metric[] = Object.values(metrics);
