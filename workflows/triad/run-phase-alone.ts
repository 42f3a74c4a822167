import { ApplicationFailure } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { DelegationOutcome, LoneOutcome } from '../../contracts/delegation-run.ts';
import type { ExecutorOutline } from '../../contracts/executor.ts';
import { viewPhase } from '../../core/triad/phase-state.ts';
import { runAlone } from '../execution/run-alone.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { buildTriadOutcome } from './build-triad-outcome.ts';
import { keepReport } from './keep-report.ts';
import { runPhase } from './run-phase.ts';

/**
 * Runs a single phase that was started by hand, with the results of the phase before from the input. It has one
 * attempt.
 */
export function runPhaseAlone(input: unknown): Promise<LoneOutcome> {
  return runAlone('triadPhase', input, executePhase);
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
