import {
  ApplicationFailure,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoneOutcome } from '../../contracts/delegation-run.ts';
import type { PhaseStatusView } from '../../contracts/views.ts';
import { renderPhaseDetails } from '../../core/render/render-work-details.ts';
import { viewPhase } from '../../core/triad/phase-state.ts';
import { createControl } from '../shared/control.ts';
import { openChildBudget } from '../shared/budget.ts';
import { phaseStatusQuery } from '../shared/messages.ts';
import { createParentSuperior } from '../shared/superior.ts';
import type { PhaseResult, TriadPhaseArgs } from './phase-order.ts';
import { runPhase } from './run-phase.ts';
import { runPhaseAlone } from './run-phase-alone.ts';

/**
 * One phase of a triad: `deliberate`, `negotiate` or `execute` (seed 000).
 *
 * Started by a delegation with its order, or by hand with
 * `{"phase":"negotiate","type":"dialectic","task":"…","summary":"…"}`: then it is a run of its own and gives an outcome.
 *
 * It never continues as new: `max_turns` bounds the calls of each of its three members, and what they say is not in history.
 *
 * @throws InvalidInput when it was started by hand with bad input; the message lists every fault.
 */
export async function triadPhase(args: TriadPhaseArgs): Promise<PhaseResult | LoneOutcome> {
  const { parent } = workflowInfo();
  if (parent === undefined) return runPhaseAlone(args);
  if (!('order' in args)) throw ApplicationFailure.nonRetryable('A child phase needs an order.');
  const { order } = args;
  const { run_id, delegation } = order.order;
  const control = createControl({ paused: null, parked: null });
  const superior = createParentSuperior(parent.workflowId, run_id, control, order.order.news);
  const budget = openChildBudget(parent.workflowId, delegation.delegation_id, order.carried.budget);
  let view: PhaseStatusView | null = null;
  setHandler(phaseStatusQuery, () => view, {
    description: 'Round, who is at work, sections, claims and usage.',
  });
  const result = await runPhase(order, {
    control,
    superior,
    budget,
    onChange(state, waitingFor, usage) {
      view = { ...viewPhase(state, 'running'), usage };
      setCurrentDetails(renderPhaseDetails(view, waitingFor));
    },
  });
  const { state, status, usage } = result;
  view = { ...viewPhase(state, status), at_work: [], usage };
  setCurrentDetails(renderPhaseDetails(view, ''));
  return result;
}
