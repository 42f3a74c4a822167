import {
  allHandlersFinished,
  condition,
  continueAsNew,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { CarriedRun, PlannerRunArgs, RunStatus } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import type { Ref } from '../../contracts/ref.ts';
import { isDone, waiveCriteria } from '../../core/criteria/criteria.ts';
import { decideNextStep } from '../../core/run/decide-next-step.ts';
import { createChildRelay } from '../shared/child-relay.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import type { RootHost } from '../shared/root-host.ts';
import { describeBudget, runTerms } from '../shared/root-state.ts';
import type { RootState } from '../shared/root-state.ts';
import { judgeWave } from './judge-wave.ts';
import { designFirst, isEndedEarly } from './run-design-first.ts';
import { runNextWave, openLedger } from './run-next-wave.ts';
import {
  askUser,
  tasksCrashedQuestion,
  waveLostQuestion,
  wavesSpentQuestion,
} from './run-questions.ts';
import { showMode } from '../design/run-design.ts';
import type { EarlierWaves, RunLedger } from './run-next-wave.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

type ChosenMode = NonNullable<WaveResult['chosen']>;

/** Waves of this run of the workflow. */
export interface Waves {
  readonly ledger: RunLedger;
  readonly relay: ChildRelay;
  /** Outcomes of all of them, for the reasons in the result. */
  readonly outcomes: DelegationOutcome[];
}

export function openWaves({ control, news }: RootHost, earlier: EarlierWaves | null): Waves {
  return { ledger: openLedger(earlier), relay: createChildRelay(control, news), outcomes: [] };
}

/** Runs waves until `core/run` or the user ends the run. It may be called again then. */
export async function runWaves(host: RootHost, waves: Waves): Promise<RunStatus> {
  const { ledger, relay, outcomes } = waves;
  const end = await stopWhenCancelled(() =>
    host.stoppable(async (): Promise<RunStatus> => {
      for (;;) {
        const status = await takeStep(host, ledger, relay, outcomes);
        if (status !== null) return status;
        if (workflowInfo().continueAsNewSuggested || host.isFull()) await carryOver(host, ledger);
      }
    }),
  );
  return end ?? 'stopped';
}

/** @returns the status at the run's end, or null while it goes on. */
async function takeStep(
  host: RootHost,
  ledger: RunLedger,
  relay: ChildRelay,
  outcomes: DelegationOutcome[],
): Promise<RunStatus | null> {
  const { state } = host;
  await host.control.ready();
  const designed = await designFirst(host, relay);
  if (designed !== null) return designed === 'full' ? null : designed;
  const step = decideNextStep({
    criteria: state.criteria,
    ...(state.again.length > 0 && { again: state.again }),
    wave: state.wave,
    waves_allowed: state.waves_allowed,
    input_pending: state.news.from_user > state.news.considered,
    last_io_status: state.waves.at(-1)?.io_status ?? null,
  });
  switch (step.type) {
    case 'waves_spent':
      return askWhenWavesAreSpent(host, step.open);
    case 'end':
      if (!(await restsOnStale(host))) return step.status;
      // The plan has work that is to be done again.
      return doWave(host, ledger, relay, { outcomes, redoes: true });
    case 'wave':
      return doWave(host, ledger, relay, { outcomes, redoes: false });
  }
}

/** @returns the status at the run's end, or null while it goes on. */
async function doWave(
  host: RootHost,
  ledger: RunLedger,
  relay: ChildRelay,
  { outcomes, redoes }: { readonly outcomes: DelegationOutcome[]; readonly redoes: boolean },
): Promise<RunStatus | null> {
  const wave = await runNextWave(host, ledger, relay, redoes);
  if (wave === null) return null;
  if (wave === 'nothing') return 'completed';
  if ('lost' in wave) return askWhenWaveIsLost(host, wave.lost);
  outcomes.push(...wave.outcomes);
  ledger.take(wave);
  return takeWave(host, wave);
}

/** Returns true for a run by a plan whose results rest, in part, on what no longer holds, while it may still redo them. */
async function restsOnStale({ state, record }: RootHost): Promise<boolean> {
  const mayGoOn = state.plan_approved !== null && state.wave < state.waves_allowed;
  if (!mayGoOn || !patched('redo-stale')) return false;
  await record.flush();
  return record.stale().length > 0;
}

/** @returns the status at the run's end, or null while it goes on. */
async function takeWave(host: RootHost, wave: WaveResult): Promise<RunStatus | null> {
  host.takeWave(wave);
  if (wave.chosen?.mode === 'designed') takeChoice(host, wave.chosen);
  if (wave.status === 'finished') return endAsFinished(host.state.criteria);
  if (isEndedEarly(host, wave)) return null;
  if (wave.status !== 'decided') return wave.status;
  return (await askWhenTasksCrashed(host, wave)) ?? judgeWave(host, wave.wave);
}

/** Takes a plan as the proposal for a design. Its wave gave nothing out, so it does not count. */
function takeChoice(host: RootHost, { mode, reasons, plan_ref }: ChosenMode): void {
  const { state } = host;
  state.first_plan_ref = plan_ref;
  state.waves_allowed += 1;
  showMode(host, { mode, reasons });
}

/** Returns the end after the user told the run to finish: as completed when every criterion is met. */
function endAsFinished(criteria: readonly CriterionState[]): RunStatus {
  return isDone(criteria) ? 'completed' : 'finished_unmet';
}

async function askWhenWavesAreSpent(
  host: RootHost,
  open: readonly string[],
): Promise<RunStatus | null> {
  const { state } = host;
  const answer = await askUser(host, 'waves_spent', wavesSpentQuestion(state.wave, open));
  switch (answer?.answer ?? 'finish') {
    case 'continue':
      state.waves_allowed += state.opened?.limits.max_waves ?? 1;
      return null;
    case 'waive':
      state.waived = [...state.waived, ...open];
      state.criteria = waiveCriteria(state.criteria, open, answer?.question_id);
      host.record.add({
        type: 'criteria_waived',
        criterion_ids: open,
        ...(answer !== null && { question_id: answer.question_id }),
      });
      return null;
    case 'abandon':
      return 'abandoned';
    default:
      return endAsFinished(state.criteria);
  }
}

/**
 * Asks the user after a wave was terminated or failed: its work is in the store, and the user decides whether another
 * one is made.
 */
async function askWhenWaveIsLost(host: RootHost, reason: string): Promise<RunStatus | null> {
  const { state } = host;
  const spent = describeBudget(state);
  const question = waveLostQuestion(state.wave, reason, spent);
  const answer = await askUser(host, 'planner_stuck', question);
  if (answer?.answer !== 'retry') return 'abandoned';
  state.waves_allowed += 1;
  return null;
}

/** Returns true for a run by a plan of which something counts as done, but was to be done again. Before 2026-11-26 it did not matter. */
async function leavesStale({ state, record }: RootHost): Promise<boolean> {
  if (state.plan_approved === null || !patched('redo-crashed')) return false;
  await record.flush();
  return record.stale().length > 0;
}

/** Asks the user about tasks of a designed plan that have crashed, once their siblings have ended (seed 003, Issue 5). */
async function askWhenTasksCrashed(
  host: RootHost,
  { outcomes }: WaveResult,
): Promise<RunStatus | null> {
  const { state } = host;
  const crashed = outcomes.filter(({ crashes }) => crashes !== undefined);
  if (crashed.length === 0) return null;
  if (isDone(state.criteria) && !(await leavesStale(host))) return null;
  const answer = await askUser(host, 'planner_stuck', tasksCrashedQuestion(crashed));
  if (answer?.answer === 'abandon') return 'abandoned';
  if (answer?.answer !== 'retry') return null;
  state.again = [...state.again, ...crashed.map(({ delegation_id }) => delegation_id)];
  state.waves_allowed += 1;
  return null;
}

/** Continues as new without losses: writes are done, answers delivered, handlers finished. */
async function carryOver(host: RootHost, ledger: RunLedger): Promise<never> {
  const { state, control, record, inbox } = host;
  const { opened } = state;
  if (opened === null) throw new Error('A run was carried over before it was opened.');
  const record_ref = await settle(host);
  const taint = ledger.taint();
  const parkedUntil = control.parkedUntil();
  const carried: CarriedRun = {
    ...runTerms(opened),
    ...(taint !== undefined && { taint }),
    version: 1,
    started_at: state.started_at,
    record_ref,
    budget: state.budget,
    ...(opened.design !== undefined && { design_request: opened.design }),
    ...(state.mode !== null && { mode_chosen: state.mode }),
    ...(state.first_plan_ref !== null && { first_plan_ref: state.first_plan_ref }),
    ...(state.plan_approved !== null && { plan_approved: state.plan_approved }),
    ...carriedDesign(state),
    wave: state.wave,
    waves_allowed: state.waves_allowed,
    criteria: state.criteria,
    known_inputs: record.knownInputs(),
    delegation_ids: ledger.delegationIds(),
    fingerprints: ledger.fingerprints(),
    stale: record.stale(),
    usage: state.usage,
    inbox: inbox.carry(),
    recent_answers: inbox.recentAnswers(),
    facts_total: record.factsTotal(),
    recent_facts: record.facts(),
    amendments: state.amendments,
    news: state.news,
    waived: state.waived,
    ...host.views.carryNotices(),
    wave_outlines: state.waves,
    paused_reason: control.pausedReason(),
    parked_reason: control.parkedReason(),
    ...(parkedUntil !== null && { parked_until: parkedUntil }),
  };
  return continueAsNew<(args: PlannerRunArgs) => Promise<unknown>>({ carried });
}

/**
 * Resolves with the newest record when every handler has finished, every write is done and every notification on its way, also
 * of what came meanwhile: a handler may wait for the same write before it goes on.
 */
async function settle(host: RootHost): Promise<Ref> {
  for (;;) {
    await condition(allHandlersFinished);
    await host.views.settleNotices();
    const record_ref = await host.settleRecord();
    if (host.views.hasToldAll() && allHandlersFinished()) return record_ref;
  }
}

/** Carries what an unfinished design has finished: the next execution goes on from there. */
function carriedDesign({ design, plan_approved }: RootState): Pick<CarriedRun, 'design_at_work'> {
  if (design === null || plan_approved !== null) return {};
  const { materials, plan_refs, lost } = design;
  return { design_at_work: { materials, plan_refs, lost } };
}
