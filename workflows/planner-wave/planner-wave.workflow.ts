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
import type { Usage } from '../../contracts/usage.ts';
import type { WaveView } from '../../contracts/views.ts';
import { renderWaveDetails } from '../../core/render/render-work-details.ts';
import { chargeBefore } from '../../core/budget/resolve-budget.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { recallMissed } from '../shared/recall-run.ts';
import { createControl } from '../shared/control.ts';
import { createRefresher } from '../shared/create-refresher.ts';
import { progressSignal, waveQuery, waveStatusQuery } from '../shared/messages.ts';
import { createParentSuperior } from '../shared/superior.ts';
import type { Superior } from '../shared/superior.ts';
import { runWave } from './run-wave.ts';
import { beginWaveWork, statusOf, viewBefore } from './wave-context.ts';
import { runWaveAlone } from './run-wave-alone.ts';

/**
 * A set of delegations planned together, and the planner's decision on what came back (seed 004 §3–7).
 *
 * Started by a run with its order, or by hand with `{"goal":"…"}`, with or without `"delegations":[…]`.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function plannerWave(args: PlannerWaveArgs): Promise<WaveResult | LoneWaveResult> {
  const { parent } = workflowInfo();
  if (parent === undefined) return runWaveAlone(args);
  if (!('order' in args)) throw ApplicationFailure.nonRetryable('A child wave needs an order.');
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

/**
 * Returns what the run has spent and does not know of: a reset took back what it was told. Asked by the wave itself, which
 * is started anew after a reset to any moment before it.
 */
async function recallBefore(
  { run_id, spent }: WaveOrder,
  { park }: Pick<Superior, 'park'>,
): Promise<Usage> {
  return spent === undefined ? noUsage : recallMissed({ place: run_id, ...spent, park });
}
