import { setHandler, workflowInfo } from '@temporalio/workflow';
import type { WaveProgress } from '../../contracts/messages.ts';
import type { CarriedRun, PlannerRunArgs, PlannerRunResult } from '../../contracts/planner-run.ts';
import type { RunWavesView } from '../../contracts/views.ts';
import { checkDesigned, checkProgress } from '../../core/run/read-messages.ts';
import { waveWorkflowId } from '../../core/ids.ts';
import { explainCriteria } from '../shared/explain-criteria.ts';
import { designedSignal, progressSignal, waveQuery } from '../shared/messages.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import { showDesign, showMode } from '../shared/show-design.ts';
import { settleChanges } from '../shared/settle-changes.ts';
import { archiveFirst } from './archival.workflow.ts';
import type { EarlierWaves } from './run-ledger.ts';
import { runWaves } from './run-waves.ts';
import { takeFork } from './take-fork.ts';

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
  const { status, outcomes } = await runWaves(host, before);
  await settleChanges(host, status);
  return host.finish(status, explainCriteria(outcomes));
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
