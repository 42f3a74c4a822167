import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { CrashedTask } from '../../contracts/adaptation.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import { isDone, waiveCriteria } from '../../core/criteria/criteria.ts';
import { engineLimits } from '../../core/limits.ts';
import { listCrashed, tasksCrashedQuestion } from '../../core/run/crashed-tasks.ts';
import { decideNextStep } from '../../core/run/decide-next-step.ts';
import { isHistoryLong } from '../shared/history-length.ts';
import type { RootHost } from '../shared/root-host.ts';
import { describeBudget } from '../shared/root-state.ts';
import { carryOver } from './carry-over.ts';
import { judgeWave } from './judge-wave.ts';
import { designFirst, isEndedEarly } from './run-design-first.ts';
import { runNextWave, openLedger } from './run-next-wave.ts';
import { askUser, waveLostQuestion, wavesSpentQuestion } from './run-questions.ts';
import { showMode } from '../design/run-design.ts';
import type { EarlierWaves, RunLedger } from './run-next-wave.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

type ChosenMode = NonNullable<WaveResult['chosen']>;

/** Waves of this run of the workflow. */
export interface Waves {
  readonly ledger: RunLedger;
  /** Outcomes of all of them, for the reasons in the result. */
  readonly outcomes: DelegationOutcome[];
}

export function openWaves(earlier: EarlierWaves | null): Waves {
  return { ledger: openLedger(earlier), outcomes: [] };
}

/** Runs waves until `core/run` or the user ends the run. It may be called again then. */
export async function runWaves(host: RootHost, waves: Waves): Promise<RunStatus> {
  const { ledger, outcomes } = waves;
  const end = await stopWhenCancelled(() =>
    host.stoppable(async (): Promise<RunStatus> => {
      for (;;) {
        const status = await takeStep(host, ledger, outcomes);
        if (status !== null) return status;
        if (isHistoryLong() || host.isFull()) await carryOver(host, ledger);
      }
    }),
  );
  return end ?? 'stopped';
}

/** @returns the status at the run's end, or null while it goes on. */
async function takeStep(
  host: RootHost,
  ledger: RunLedger,
  outcomes: DelegationOutcome[],
): Promise<RunStatus | null> {
  const { state } = host;
  await host.control.ready();
  const designed = await designFirst(host);
  if (designed !== null) return designed === 'full' ? null : designed;
  const judged = await judgeLate(host);
  if (judged !== null) return judged;
  const heard = state.news.from_user;
  const step = decideNextStep({
    criteria: state.criteria,
    wave: state.wave,
    waves_allowed: state.waves_allowed,
    input_pending: heard > state.news.considered,
    last_io_status: state.waves.at(-1)?.io_status ?? null,
  });
  switch (step.type) {
    case 'waves_spent':
      return askWhenWavesAreSpent(host, step.open);
    case 'end':
      // The plan may have work that is to be done again.
      if (await restsOnStale(host)) {
        return doWave(host, ledger, { outcomes, heard, redoes: true });
      }
      return hasHeardMore(host, heard) ? null : step.status;
    case 'wave':
      return doWave(host, ledger, { outcomes, heard, redoes: false });
  }
}

interface NextWave {
  readonly outcomes: DelegationOutcome[];
  /** The user's newest news when the wave was decided on. */
  readonly heard: number;
  /** True where the wave is for work of the plan that is to be done again, and for nothing else. */
  readonly redoes: boolean;
}

/** @returns the status at the run's end, or null while it goes on. */
async function doWave(
  host: RootHost,
  ledger: RunLedger,
  { outcomes, heard, redoes }: NextWave,
): Promise<RunStatus | null> {
  const wave = await runNextWave(host, ledger, redoes);
  if (wave === null) return null;
  if (wave === 'nothing') return hasHeardMore(host, heard) ? null : 'completed';
  if ('lost' in wave) return askWhenWaveIsLost(host, wave.lost);
  outcomes.push(...wave.outcomes);
  ledger.take(wave);
  return takeWave(host, wave);
}

/** Returns true for a run whose user told it something after its end was decided: that is decided again. */
function hasHeardMore({ state }: RootHost, heard: number): boolean {
  return state.news.from_user > heard;
}

/** Returns true for a run by a plan whose results rest, in part, on what no longer holds, while it may still redo them. */
async function restsOnStale({ state, record }: RootHost): Promise<boolean> {
  const mayGoOn = state.plan_approved !== null && state.wave < state.waves_allowed;
  if (!mayGoOn) return false;
  await record.flush();
  return record.stale().length > 0;
}

/** @returns the status at the run's end, or null while it goes on. */
async function takeWave(host: RootHost, wave: WaveResult): Promise<RunStatus | null> {
  host.takeWave(wave);
  if (wave.chosen?.mode === 'designed') takeChoice(host, wave.chosen);
  if (wave.status === 'finished') return endAsFinished(host.state.criteria);
  const crashed = listCrashed(wave);
  if (isEndedEarly(host, wave)) {
    // The next execution can be answered.
    const loops = host.state.loops.slice(0, engineLimits.loopsCarriedMax);
    if (host.state.plan_approved !== null) {
      host.state.unjudged = { crashed, ...(loops.length > 0 && { loops }) };
    }
    return null;
  }
  if (wave.status !== 'decided') return wave.status;
  return (await askWhenTasksCrashed(host, crashed)) ?? judgeWave(host, wave.wave);
}

/** Judges the last wave where that was not done when it ended. @returns the status of a run that ends here, or null. */
async function judgeLate(host: RootHost): Promise<RunStatus | null> {
  const { state } = host;
  const { unjudged } = state;
  if (unjudged === null) return null;
  state.unjudged = null;
  state.loops = [...(unjudged.loops ?? [])];
  return (await askWhenTasksCrashed(host, unjudged.crashed)) ?? judgeWave(host, state.wave);
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

/** Returns true for a run by a plan of which something counts as done, but was to be done again. */
async function leavesStale({ state, record }: RootHost): Promise<boolean> {
  if (state.plan_approved === null) return false;
  await record.flush();
  return record.stale().length > 0;
}

/** Asks the user about tasks of a designed plan that have crashed, once their siblings have ended (seed 003, Issue 5). */
async function askWhenTasksCrashed(
  host: RootHost,
  crashed: readonly CrashedTask[],
): Promise<RunStatus | null> {
  const { state } = host;
  if (crashed.length === 0) return null;
  if (isDone(state.criteria) && !(await leavesStale(host))) return null;
  const answer = await askUser(host, 'planner_stuck', tasksCrashedQuestion(crashed));
  if (answer?.answer === 'abandon') return 'abandoned';
  if (answer?.answer !== 'retry') return null;
  state.again = [...state.again, ...crashed.map(({ delegation_id }) => delegation_id)];
  state.waves_allowed += 1;
  return null;
}
