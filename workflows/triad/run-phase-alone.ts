import { ApplicationFailure } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type {
  DelegationOrder,
  DelegationOutcome,
  LoneOutcome,
} from '../../contracts/delegation-run.ts';
import { viewPhase } from '../../core/triad/view-phase.ts';
import { runDelegationAlone } from '../delegation/run-delegation-alone.ts';
import type { DelegationDesk } from '../delegation/run-delegation.ts';
import { buildTriadOutcome } from './build-triad-outcome.ts';
import { keepReport } from './keep-report.ts';
import { runPhase } from './run-phase.ts';

/**
 * Runs a single phase that was started by hand, with the results of the phase before from the input. It has one
 * attempt.
 */
export function runPhaseAlone(input: unknown): Promise<LoneOutcome> {
  return runDelegationAlone('triadPhase', input, carryOutPhase);
}

async function carryOutPhase(
  order: DelegationOrder,
  { control, superior, funds, onStatus }: DelegationDesk,
  { phase_start }: OpenRunResult,
): Promise<DelegationOutcome> {
  const { triad, delegation_id, agent_id, title } = order.delegation;
  const who = { delegation_id, agent_id, title };
  if (triad === undefined || phase_start === undefined) {
    throw ApplicationFailure.nonRetryable('The input gave no phase.');
  }
  const { phase, spec, summary_ref } = phase_start;
  const carried = { purse: funds.carry(), calls: {}, loaded_details: [], effects: [] };
  const result = await runPhase(
    { order, triad, phase, begin: { type: 'open', spec, summary_ref }, carried },
    {
      control,
      superior,
      funds,
      onChange(state, waiting_for, usage) {
        onStatus({
          ...who,
          state: waiting_for === '' ? 'running' : 'waiting',
          turn: state.turns.length,
          waiting_for,
          usage,
          triad: viewPhase(state, 'running'),
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
  onStatus({ ...who, state: status, turn, waiting_for, usage, triad: ended });
  return outcome;
}
