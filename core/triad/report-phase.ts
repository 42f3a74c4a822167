/**
 * Builds the report of an attempt at a phase.
 *
 * Invariants:
 *   PR1. The report of a failed or stopped attempt contains everything that was recorded until then.
 */
import type { MemberFailure } from '../../contracts/spec.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { PhaseState } from './phase-state.ts';

/** End of an attempt. */
export interface PhaseEnd {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly status: PhaseReport['status'];
  readonly failure: MemberFailure | null;
  /** Use of the attempt. */
  readonly usage: Usage;
}

export function reportPhase(state: PhaseState, end: PhaseEnd): PhaseReport {
  const { setup, phase, round, spec, turns, summary, output } = state;
  return {
    version: 1,
    type: setup.type,
    reason: setup.reason,
    members: setup.members,
    phase,
    attempt: end.attempt,
    status: end.status,
    rounds: round,
    rounds_max: setup.rounds_max,
    spec,
    turns,
    summary_ref: summary?.summary_ref ?? null,
    output_ref: output?.output_ref ?? null,
    failure: end.failure,
    usage: end.usage,
  };
}
