import {
  ApplicationFailure,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoneOutcome, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { PhaseStatusView } from '../../contracts/views.ts';
import { renderPhaseDetails } from '../../core/render/render-work-details.ts';
import { viewPhase } from '../../core/triad/phase-state.ts';
import { createControl } from '../shared/control.ts';
import { openChildBudget } from '../shared/budget.ts';
import { phaseStatusQuery } from '../shared/messages.ts';
import { createParentSuperior, nameNextRequest } from '../shared/superior.ts';
import { runPhase } from './run-phase.ts';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import { runAlone } from '../execution/run-alone.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { buildTriadOutcome, keepReport } from './build-triad-outcome.ts';
import type { PhaseResult, TriadPhaseArgs } from './member-at-work.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';

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
  // Without an order it is alone, also below a workflow of the user's.
  if (parent === undefined || !('order' in args)) {
    return runAlone('triadPhase', args, executePhase);
  }
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
    superior: nameNextRequest(superior, budget),
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

async function executePhase(
  triad: ExecutorOutline,
  { order, control, superior, budget, onStatus }: ExecutionContext,
  { phase_start }: OpenRunResult,
): Promise<DelegationOutcome> {
  const { delegation_id, agent_id, title } = order.delegation;
  const who = { delegation_id, agent_id, title };
  if (triad.kind !== 'triad' || phase_start === undefined) {
    throw ApplicationFailure.nonRetryable('The input gave no phase.');
  }
  const { phase, spec, summary_ref } = phase_start;
  const carried = { budget: budget.carry(), calls: {}, loaded_details: [], effects: [] };
  const result = await runPhase(
    { order, triad, phase, begin: { type: 'open', spec, summary_ref }, carried },
    {
      control,
      superior,
      budget,
      onChange(state, waiting_for, usage) {
        onStatus({
          ...who,
          state: waiting_for === '' ? 'running' : 'waiting',
          turn: state.turns.length,
          waiting_for,
          usage,
          executor: { kind: 'triad', type: triad.type, view: viewPhase(state, 'running') },
        });
      },
    },
  );
  const report = await keepReport(order, result, 1, superior);
  const { usage, state, carried: spent } = result;
  const work = { order, triad, carried: spent, usage, state };
  const outcome = buildTriadOutcome(work, result, [report]);
  const { status, reason: waiting_for, turns: turn } = outcome;
  const ended = { ...viewPhase(state, result.status), at_work: [] };
  const executor = { kind: 'triad', type: triad.type, view: ended } as const;
  onStatus({ ...who, state: status, turn, waiting_for, usage, executor });
  return outcome;
}
