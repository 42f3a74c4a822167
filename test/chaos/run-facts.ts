import type { WaveResult } from '../../contracts/planner-wave.ts';
import type { PlannerRunResult } from '../../contracts/planner-run.ts';
import type { Delivery } from '../../contracts/messages.ts';
import { signalNames } from '../../contracts/names.ts';
import type { BudgetView, QuestionsView } from '../../contracts/views.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { payloadText } from '../support/histories.ts';
import type { StoredHistory } from '../support/histories.ts';
import { newestRecord } from '../support/stored-record.ts';
import { moreBudget, readAsked } from './answering.ts';
import { readSites } from './call-sites.ts';
import { readAttempts } from './read-attempts.ts';
import type { CallAttempts, JudgedStores } from './read-attempts.ts';
import { hashWithoutTimes, readDesignFacts, withoutTimes } from './design-facts.ts';
import type { DesignFacts } from './design-facts.ts';
import { readOutside } from './outside-facts.ts';
import type { OutsideFacts, OutsidePlaces } from './outside-facts.ts';
import { readReportFiles } from './report-files.ts';
import { readThread } from './read-thread.ts';
import type { ThreadFacts } from './read-thread.ts';
import type { PhaseResult } from '../../workflows/triad/member-at-work.ts';

/** Facts of a finished run that must not depend on interruptions. */
export interface RunFacts extends OutsideFacts {
  readonly status: string;
  readonly waves: number;
  /** `<id>: <state>`, sorted. */
  readonly criteria: readonly string[];
  /** Hash of each artifact by what it is: `plan`, `decision`, and a delegation's id for its output. */
  readonly artifacts: Readonly<Record<string, string | null>>;
  /** `<id>: completed after 2 turns`, sorted. */
  readonly delegations: readonly string[];
  /** Spec and turns with their texts of each phase of a triad, by the end of the phase's id. */
  readonly phases: Readonly<Record<string, unknown>>;
  /** Null without a design. */
  readonly design: DesignFacts | null;
  /** Report files of triads and teams, by path. */
  readonly reportFiles: Readonly<Record<string, string>>;
  /** Entries that a team added to its thread; null without a thread. */
  readonly thread: ThreadFacts | null;
  /** `<delegation>: <answer>` for each answer that the run keeps, those about its budget and unsure calls left out, sorted. */
  readonly answers: readonly string[];
  /**
   * By wave, delegation and phase: how often answers were delivered to it, those about unsure calls left out; a wave is given
   * those of its delegations.
   */
  readonly deliveries: Readonly<Record<string, number>>;
  /** Answered questions whether a call was made. */
  readonly unsureCalls: number;
  /** Calls of tools that were given to a worker again, because an interruption cut them off. */
  readonly repeatedCalls: number;
  /** Answers that were refused and are listed with the reason. */
  readonly refused: number;
  /** Questions that are still open. */
  readonly open: number;
  /** Model calls that the run's budget counts, those without a report included. */
  readonly billedCalls: number;
  /** Attempts at each call that the ledger has, by its key. */
  readonly attempts: Readonly<Record<string, CallAttempts>>;
  /** Limit of its budget. */
  readonly callsMax: number;
}

/** Traces of a finished run. */
export interface RunTraces {
  /** The run's own first. */
  readonly histories: readonly StoredHistory[];
  readonly questions: QuestionsView;
  readonly budget: BudgetView['budget'];
  readonly stored: JudgedStores;
  /** Where the files for people are. */
  readonly home: string;
  /** The key under which each call that the model saw is counted, by its own key. */
  readonly keys: ReadonlyMap<string, string>;
  /** Whether it was reset: then it has had histories that are gone. */
  readonly isReset: boolean;
  readonly outside: OutsidePlaces;
}

/** @throws when the run has not ended with a result. */
export async function readRunFacts({
  histories,
  questions,
  budget,
  stored,
  home,
  keys,
  isReset,
  outside,
}: RunTraces): Promise<RunFacts> {
  const runId = histories[0]?.workflowId ?? '';
  const { answered, rejected_total, open } = questions;
  const events = histories.flatMap(({ history }) => history.events ?? []);
  const result = resultOf(histories[0]);
  const waves = events
    .map((event) => event.childWorkflowExecutionCompletedEventAttributes)
    .filter((ended) => ended?.workflowType?.name === 'plannerWave')
    .map((ended): WaveResult => JSON.parse(payloadText(ended?.result)))
    // The histories of a run that continued as new come newest first.
    .toSorted((one, other) => one.wave - other.wave);
  const outcomes = waves.flatMap((wave) => wave.outcomes);
  const record = await newestRecord(stored, runId);
  const asked = events.flatMap((event) => readAsked({ event }, []));
  const unsure = new Set(asked.filter(({ kind }) => kind === 'effect').map(({ text }) => text));
  return {
    status: result.status,
    waves: result.waves,
    criteria: result.criteria.map((one) => `${one.criterion_id}: ${one.state}`).toSorted(),
    artifacts: await hashArtifacts(stored.store, {
      plan: waves.at(-1)?.plan_ref ?? null,
      decision: waves.at(-1)?.decision?.decision_ref ?? null,
      ...Object.fromEntries(outcomes.map((one) => [one.delegation_id, one.output_ref])),
    }),
    delegations: outcomes
      .map((one) => `${withoutTimes(one.delegation_id)}: ${one.status} after ${one.turns} turns`)
      .toSorted(),
    design: await readDesignFacts(stored.store, record),
    phases: Object.fromEntries(histories.flatMap(readPhaseEnd)),
    reportFiles: readReportFiles(home, runId),
    thread: await readThread(home, runId),
    ...readOutside(home, runId, record, outside),
    answers: answered
      .filter(({ answer, text }) => answer !== moreBudget && !unsure.has(text))
      .map((one) => withoutTimes(`${one.delegation_id ?? 'run'}: ${one.answer}`))
      .toSorted(),
    deliveries: Object.fromEntries(histories.flatMap((one) => countDeliveries(one, unsure))),
    unsureCalls: answered.filter(({ text }) => unsure.has(text)).length,
    repeatedCalls: histories.reduce((sum, { history }) => sum + countRepeated(history), 0),
    refused: rejected_total,
    open: open.length,
    billedCalls: spendingOf(result.usage).calls,
    attempts: await readAttempts(stored.ledger, runId, keys, isReset ? null : readSites(histories)),
    callsMax: budget?.run.calls ?? Infinity,
  };
}

async function hashArtifacts(
  store: JudgedStores['store'],
  refs: Readonly<Record<string, string | null>>,
): Promise<Record<string, string | null>> {
  const hashed = Object.entries(refs).map(
    async ([name, ref]) =>
      [withoutTimes(name), ref === null ? null : await hashWithoutTimes(store, ref)] as const,
  );
  return Object.fromEntries(await Promise.all(hashed));
}

function resultOf(run: StoredHistory | undefined): PlannerRunResult {
  const last = run?.history.events?.at(-1);
  const ended = last?.workflowExecutionCompletedEventAttributes;
  if (!ended) {
    throw new Error(
      `The run ended without a result: ${JSON.stringify(last ?? null).slice(0, 2_000)}`,
    );
  }
  const result: PlannerRunResult = JSON.parse(payloadText(ended.result));
  return result;
}

function readPhaseEnd({ workflowId, type, history }: StoredHistory): [string, unknown][] {
  if (type !== 'triadPhase') return [];
  const ended = history.events?.at(-1)?.workflowExecutionCompletedEventAttributes;
  const { status, state }: PhaseResult = JSON.parse(payloadText(ended?.result));
  return [[nameBelowRun(workflowId), { status, state }]];
}

function countRepeated({ events }: StoredHistory['history']): number {
  const isTool = (id: unknown): boolean =>
    events?.find(({ eventId }) => String(eventId) === String(id))
      ?.activityTaskScheduledEventAttributes?.activityType?.name === 'runTool';
  const started = (events ?? []).map((event) => event.activityTaskStartedEventAttributes);
  return started.filter((one) => (one?.attempt ?? 0) > 1 && isTool(one?.scheduledEventId)).length;
}

function countDeliveries(
  { workflowId, type, history }: StoredHistory,
  unsure: ReadonlySet<string>,
): [string, number][] {
  if (type === 'plannerRun') return [];
  const delivered = (history.events ?? []).filter(
    ({ workflowExecutionSignaledEventAttributes: signal }) => {
      if (signal?.signalName !== signalNames.deliver) return false;
      const { answers }: Delivery = JSON.parse(payloadText(signal.input));
      return answers.some(({ text }) => !unsure.has(text));
    },
  );
  return [[nameBelowRun(workflowId), delivered.length]];
}

/** Names a workflow by what comes after its run: `wave-001`, `wave-001/region/execute`, `design/risk`. */
function nameBelowRun(workflowId: string): string {
  return workflowId.replace(/^.*?\/(?=wave-\d+|design)/su, '');
}
