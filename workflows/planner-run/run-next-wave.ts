import { isCancellation, startChild } from '@temporalio/workflow';
import { workflowTypes } from '../../contracts/names.ts';
import type { PlannerWaveArgs, WaveOrder, WaveResult } from '../../contracts/planner-wave.ts';
import { listRefused } from '../../core/questions/repeated-questions.ts';
import { reserveForWave } from '../../core/budget/resolve-budget.ts';
import { waveWorkflowId } from '../../core/ids.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { nowMs } from '../shared/clock.ts';
import type { RootHost } from '../shared/root-host.ts';
import { knownSpent, workTerms } from '../shared/root-state.ts';
import type { RootState } from '../shared/root-state.ts';
import { addPlan, isEndedEarly, mayGoOn, untilFull } from './run-design-first.ts';
import { childOptions } from '../shared/visibility.ts';
import type { Taint } from '../../contracts/agent-definition.ts';
import type { CarriedRun } from '../../contracts/planner-run.ts';
import { readFailure } from '../shared/failures.ts';
import { recallLostPart } from '../shared/settle-run.ts';

/**
 * Runs one wave.
 *
 * @param onlyOfPlan True for a run whose criteria are done: without work of its plan that is to be done again, it ends.
 * @returns null when it had not begun and the execution is full.
 */
export async function runNextWave(
  host: RootHost,
  ledger: RunLedger,
  onlyOfPlan: boolean,
): Promise<WaveResult | { readonly lost: string } | 'nothing' | null> {
  if (host.isFull()) return null;
  // The record that the wave reads contains these news.
  const told = host.state.news.last;
  const order = await addPlan(host, await orderNext(host, ledger, told));
  if (onlyOfPlan && order.plan === undefined) return 'nothing';
  const { state } = host;
  state.wave_workflow_id = waveWorkflowId(host.runId, order.wave);
  state.wave_at_work = order.wave;
  state.wave_usage = noUsage;
  const beganAtMs = nowMs();
  // After a reset, the questions of the old wave of this id come in again; their answers are not needed.
  const withdraw = (isRepeated = false): void =>
    host.inbox.withdraw({
      from: waveWorkflowId(host.runId, order.wave),
      delegation_id: null,
      is_over: true,
      is_repeated: isRepeated,
    });
  withdraw();
  host.refresh();
  try {
    const wave = await untilFull(host, () => waveChild(host, order, told));
    if (isEndedEarly(host, wave)) withdraw(true);
    else {
      // One about its budget may be open, whose asker was lost. A run that ends leaves its questions as they are.
      if (wave.status === 'decided') withdraw();
      host.inbox.endRepeatedWork();
    }
    return wave;
  } catch (error) {
    if (isCancellation(error)) {
      if (!mayGoOn(host)) throw error;
      withdraw(true);
      return null;
    }
    withdraw();
    const passedMs = nowMs() - beganAtMs;
    const usage = await recallLostPart(host);
    const topUps = host.topUps.take(waveWorkflowId(host.runId, order.wave));
    host.loseWave({ ...order, usage, passedMs, topUps });
    return { lost: readFailure(error).message };
  } finally {
    host.relay.dismiss(waveWorkflowId(host.runId, order.wave));
    state.wave_workflow_id = null;
  }
}

/** @param told The newest news before the record is written. */
async function waveChild(host: RootHost, order: WaveOrder, told: number): Promise<WaveResult> {
  const { state } = host;
  const id = waveWorkflowId(host.runId, order.wave);
  const child = await startChild<(args: PlannerWaveArgs) => Promise<WaveResult>>(
    workflowTypes.plannerWave,
    {
      workflowId: id,
      args: [{ order }],
      ...childOptions(host.runId, `wave ${order.wave} of ${state.goal_title}`),
    },
  );
  host.relay.welcome(id, lastNewsId(order.news) || told);
  const wave = await child.result();
  host.considered(Math.max(told, wave.news_considered));
  return wave;
}

/** @param told The newest news before the record is written. */
async function orderNext(host: RootHost, ledger: RunLedger, told: number): Promise<WaveOrder> {
  const { state, record } = host;
  const { opened } = state;
  if (opened === null) throw new Error('A wave was ordered before the run was opened.');
  const record_ref = await record.flush();
  const taint = ledger.taint();
  const refused_questions = listRefused(host.inbox.carry().asked);
  return {
    ...workTerms(opened),
    ...(taint !== undefined && { taint }),
    run_id: host.runId,
    wave: state.wave + 1,
    waves_left: state.waves_allowed - state.wave - 1,
    ...(mustChoose(state) && { chooses_mode: true }),
    record_ref,
    budget: reserveForWave(state.budget, state.usage),
    ...(state.budget !== null && { spent: knownSpent(state) }),
    criteria: state.criteria,
    known_inputs: record.knownInputs(),
    delegation_ids: ledger.delegationIds(),
    fingerprints: ledger.fingerprints(),
    stale: record.stale(),
    amendments: state.amendments,
    news: host.news.since(told),
    ...(state.plan_approved !== null && { notes: true }),
    facts_total: record.factsTotal(),
    answered_questions: host.inbox.knownAnswers(),
    ...(refused_questions.length > 0 && { refused_questions }),
  };
}

function mustChoose({ opened, mode, plan_approved }: RootState): boolean {
  return opened?.design?.mode === 'auto' && mode === null && plan_approved === null;
}

/** Facts about earlier waves that the rules for the next one need. */
export interface RunLedger {
  delegationIds(): readonly string[];
  /** Number of dispatches of each fingerprint. */
  fingerprints(): Readonly<Record<string, number>>;
  /** Properties of all results so far; undefined when they have none. */
  taint(): Taint | undefined;
  take(wave: WaveResult): void;
}

/** Facts about waves before this execution. */
export type EarlierWaves = Pick<CarriedRun, 'delegation_ids' | 'fingerprints' | 'taint'>;

export function openLedger(carried: EarlierWaves | null): RunLedger {
  const delegationIds = [...(carried?.delegation_ids ?? [])];
  const fingerprints = new Map(Object.entries(carried?.fingerprints ?? {}));
  let taint = carried?.taint;
  return {
    taint: () => taint,
    delegationIds: () => delegationIds,
    fingerprints: () => Object.fromEntries(fingerprints),
    take(wave) {
      taint = wave.taint ?? taint;
      delegationIds.push(...wave.outcomes.map(({ delegation_id }) => delegation_id));
      for (const fingerprint of wave.fingerprints) {
        fingerprints.set(fingerprint, (fingerprints.get(fingerprint) ?? 0) + 1);
      }
    },
  };
}
