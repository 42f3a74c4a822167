import {
  ApplicationFailure,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  LoneWaveResult,
  PlannerWaveArgs,
  WaveOrder,
  WaveResult,
} from '../../contracts/planner-wave.ts';
import type { WaveView } from '../../contracts/views.ts';
import { renderWaveDetails } from '../../core/render/render-work-details.ts';
import { chargeBefore, reserveForWave } from '../../core/budget/resolve-budget.ts';
import { createControl } from '../shared/control.ts';
import { progressSignal, waveQuery, waveStatusQuery } from '../shared/messages.ts';
import { createParentSuperior } from '../shared/superior.ts';
import { runWave } from './run-wave.ts';
import { beginWaveWork, statusOf, viewBefore } from './wave-context.ts';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import { workTerms } from '../shared/root-state.ts';
import { createRefresher } from '../shared/background.ts';
import { finishAlone, recallAlone, recallBefore } from '../shared/settle-run.ts';

/**
 * A set of delegations planned together, and the planner's decision on what came back (seed 004 §3–7).
 *
 * Started by a run with its order, or by hand with `{"goal":"…"}`, with or without `"delegations":[…]`.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function plannerWave(args: PlannerWaveArgs): Promise<WaveResult | LoneWaveResult> {
  const { parent } = workflowInfo();
  // Without an order it is alone, also below a workflow of the user's.
  if (parent === undefined || !('order' in args)) return runWaveAlone(args);
  const { order } = args;
  const control = createControl({ paused: null, parked: null });
  const superior = createParentSuperior(parent.workflowId, order.run_id, control, order.news);
  const run = getExternalWorkflowHandle(parent.workflowId);
  let view: (() => WaveView) | null = null;
  const look = (): WaveView => view?.() ?? viewBefore(order.wave);
  const show = (): void => setCurrentDetails(renderWaveDetails(look()));
  const refresh = createRefresher(show);
  setHandler(waveQuery, look, { description: 'The delegations and their states.' });
  const work = beginWaveWork();
  setHandler(waveStatusQuery, (asked) => statusOf(work, asked), {
    description: 'State, turns and usage of one delegation. {"delegation_id":"…"}',
  });
  const missed = await recallBefore(order, superior);
  work.usage = missed;
  const result = await runWave(
    { ...order, budget: chargeBefore(order.budget, missed) },
    {
      control,
      superior,
      work,
      onPlanned: (progress) => run.signal(progressSignal, progress),
      onView(changed) {
        view = changed;
        refresh();
      },
    },
    order.plan ?? null,
  );
  // The last change comes with the end, after which nothing refreshes.
  show();
  return result;
}

/** Runs a wave that was started by hand: it has its own inbox, record and result. */
async function runWaveAlone(input: unknown): Promise<LoneWaveResult> {
  const host = new RootHost(null);
  registerRootHandlers(host);
  let view: (() => WaveView) | null = null;
  setHandler(waveQuery, () => view?.() ?? viewBefore(1), {
    description: 'The delegations and their states.',
  });
  const work = beginWaveWork();
  setHandler(waveStatusQuery, (asked) => statusOf(work, asked) ?? host.status(), {
    description: 'Phase, wave, waits and usage; with {"delegation_id":"…"} those of a delegation.',
  });
  const opened = await host.open('plannerWave', input);
  await recallAlone(host);
  const order = orderOf(host, opened);
  refuseBadPlan(opened, order);
  // The workflow itself is the current wave.
  host.state.wave_workflow_id = host.runId;
  host.state.wave_at_work = order.wave;
  const wave = await host.stoppable(() =>
    runWave(
      order,
      {
        control: host.control,
        superior: host,
        work,
        onPlanned: async (progress) => host.showPlan(progress),
        onView(changed) {
          view = changed;
          host.refresh();
        },
      },
      opened.plan,
    ),
  );
  host.state.wave_workflow_id = null;
  return { ...wave, ...(await finishAlone(host, wave)) };
}

function orderOf(host: RootHost, opened: OpenRunResult): WaveOrder {
  const { record_ref, criteria, known_inputs } = opened;
  const budget = reserveForWave(host.state.budget, host.state.usage);
  return {
    run_id: host.runId,
    wave: 1,
    waves_left: 0,
    ...workTerms(opened),
    record_ref,
    budget,
    criteria,
    known_inputs,
    delegation_ids: [],
    fingerprints: {},
    stale: [],
    amendments: [],
    news: [],
    facts_total: 0,
    answered_questions: [],
  };
}

/** Refuses an invalid typed plan. It goes back to the person, not to the planner. */
function refuseBadPlan({ plan }: OpenRunResult, order: WaveOrder): void {
  if (plan === null) return;
  const faults = checkPlan(plan, order);
  if (faults.length === 0) return;
  const lines = faults.map(({ path, reason, hint }) => `${path}: ${reason} ${hint}`);
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    nonRetryable: true,
    message: `The delegations can't be carried out:\n${lines.join('\n')}`,
    details: [faults],
  });
}
