import { setHandler, workflowInfo, ApplicationFailure, startChild } from '@temporalio/workflow';
import type { WaveProgress } from '../../contracts/messages.ts';
import type {
  CarriedRun,
  PlannerRunArgs,
  PlannerRunResult,
  RunStatus,
  TakenOver,
} from '../../contracts/planner-run.ts';
import type { RunWavesView } from '../../contracts/views.ts';
import { checkDesigned, checkProgress } from '../../core/run/read-messages.ts';
import { waveWorkflowId, archivalWorkflowId } from '../../core/ids.ts';
import { designedSignal, progressSignal, waveQuery } from '../shared/messages.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { takeAmend } from '../shared/take-amend.ts';
import { RootHost } from '../shared/root-host.ts';
import { openWaves, runWaves } from './run-waves.ts';
import type { Waves } from './run-waves.ts';
import { workflowTypes } from '../../contracts/names.ts';
import { archiveSessions } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import { childOptions } from '../shared/visibility.ts';
import { showDesign, showMode } from '../design/run-design.ts';
import type { EarlierWaves } from './run-next-wave.ts';
import { readFailure } from '../shared/failures.ts';
import { explainCriteria } from '../../core/run/settle-wave.ts';
import { settleChanges } from '../shared/settle-run.ts';
import type { ArchivalInput, ArchivalResult } from '../../contracts/note.ts';

/**
 * Runs one goal, from intake to result (seeds 003 and 004): waves until every criterion is met with evidence or waived.
 *
 * Started with `{"goal":"…"}`. Each wave is a child workflow. Continues as new between two waves when its history is
 * long; questions, answers, criteria and usage are carried over.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function plannerRun(args: PlannerRunArgs): Promise<PlannerRunResult> {
  const carried = carriedBy(args);
  const host = new RootHost(carried);
  const { state } = host;
  // Registered before the catch-all handlers: a run that is reset receives it at once.
  setHandler(
    progressSignal,
    (payload) => {
      const progress = checkProgress(payload);
      if (progress === null) host.refuse('Signal progress: not the progress of a wave.');
      // Ignores the progress of a wave from before a reset.
      else if (state.wave_workflow_id === waveWorkflowId(host.runId, progress.wave))
        showPlanned(host, progress);
    },
    { description: 'From a wave: what was planned. Not for people.' },
  );
  setHandler(
    designedSignal,
    (payload) => {
      const progress = checkDesigned(payload);
      if (progress === null) host.refuse('Signal designed: not the progress of a design.');
      // Ignores a design from before a reset.
      else if (state.plan_approved === null) showDesign(host, progress);
    },
    { description: 'From a design: a finished stage, or a new plan. Not for people.' },
  );
  registerRootHandlers(host);
  setHandler(
    waveQuery,
    (): RunWavesView => ({
      done: state.waves,
      current: state.plan,
      wave_workflow_id: state.wave_workflow_id,
    }),
    { description: 'Waves done, and the one at work.' },
  );
  let before: EarlierWaves | null = carried;
  if (carried === null) {
    const { taken_over = null } = await host.open('plannerRun', args);
    if (taken_over !== null) takeFork(host, taken_over);
    before = taken_over;
    await archiveFirst(host);
  }
  const waves = openWaves(before);
  const status = await runToEnd(host, waves);
  return host.finish(status, explainCriteria(waves.outcomes));
}

/** Runs waves, and settles the changes of its agents. What the user says before they are settled is planned for first. */
async function runToEnd(host: RootHost, waves: Waves): Promise<RunStatus> {
  for (;;) {
    // One end after the other.
    // oxlint-disable-next-line no-await-in-loop
    const status = await runWaves(host, waves);
    // oxlint-disable-next-line no-await-in-loop
    if (await settleChanges(host, status, true)) return status;
  }
}

function showPlanned(host: RootHost, progress: WaveProgress): void {
  host.showPlan(progress);
  if (progress.mode !== undefined) showMode(host, progress.mode);
}

/** Returns the carried state. Only the engine continues a run; from a person the same field is refused as bad input. */
function carriedBy(args: PlannerRunArgs): CarriedRun | null {
  const continued = workflowInfo().continuedFromExecutionRunId !== undefined;
  return continued && 'carried' in args ? args.carried : null;
}

/**
 * Archives the sessions of runs that ended without a word, such as terminated ones (seed 003, "Archival Agent"). A run that
 * ends by itself archives its own sessions with its last record.
 *
 * @throws InvalidInput when the input has another shape.
 */
export async function archival(input: ArchivalInput): Promise<ArchivalResult> {
  const result = await archiveSessions.executeWithOptions({ summary: 'archive old sessions' }, [
    { input, now: nowSeconds() },
  ]);
  if (result.type === 'refused')
    throw ApplicationFailure.nonRetryable(result.reason, 'InvalidInput');
  const { archived, failures } = result;
  return { archived, failures };
}

/**
 * Archives before a run whose agents keep notes begins. A failure is told in the run's report and stops nothing.
 */
async function archiveFirst({ state, runId, record }: RootHost): Promise<void> {
  const { notes = false, design } = state.opened ?? {};
  const hasPlan = design !== undefined && (design.plan !== null || design.mode !== 'direct');
  if (!notes && !hasPlan) return;
  const result = await archiveBefore(runId).catch((error: unknown): ArchivalResult => ({
    archived: [],
    failures: [`The archival failed: ${readFailure(error).message}`],
  }));
  if (result.archived.length + result.failures.length > 0) record.add({ type: 'archival', result });
}

async function archiveBefore(runId: string): Promise<ArchivalResult> {
  const child = await startChild<(input: ArchivalInput) => Promise<ArchivalResult>>(
    workflowTypes.archival,
    {
      workflowId: archivalWorkflowId(runId),
      args: [{ run_id: runId }],
      ...childOptions(runId, 'archive the sessions of earlier runs'),
    },
  );
  return child.result();
}

/** Goes on from what another run had before a wave. Messages that came before stay. */
function takeFork(host: RootHost, fork: TakenOver): void {
  const { state } = host;
  state.wave = fork.wave;
  state.wave_at_work = fork.wave;
  // The limit is for the waves that this run makes.
  state.waves_allowed += fork.wave;
  state.waves = fork.wave_outlines;
  state.mode = fork.mode_chosen ?? null;
  state.unjudged = fork.unjudged ?? null;
  state.again = fork.again ?? [];
  state.waived = [...fork.waived, ...state.waived];
  state.amendments = [...fork.amendments, ...state.amendments];
  host.inbox.takeOver(fork);
  if (fork.instruction !== undefined) takeAmend(host, { instruction: fork.instruction }, []);
  host.refresh();
}
