import type { MemberFailure } from '../../contracts/spec.ts';
import type { Usage } from '../../contracts/usage.ts';
import { engineLimits } from '../limits.ts';
import type { KnownEffect } from '../output/check-evidence.ts';
import { cutText } from '../text/cut-text.ts';
import { isWorthRepeating } from '../turns/turns-state.ts';
import type { FailureReason } from '../turns/turns-state.ts';
import type { PhaseState } from './phase-state.ts';
import type { PhaseReport, TriadOutcome } from '../../contracts/triad-run.ts';

/** Returns the last attempt at each phase. */
export function newestPhases({
  phases,
}: Pick<TriadOutcome, 'phases'>): readonly TriadOutcome['phases'][number][] {
  return [...new Map(phases.map((one) => [one.phase, one])).values()];
}

/**
 * Bounds the records of a triad that are sent with its delegation's outcome, and from there to the planner.
 *
 * Invariants:
 *   BT1. An outcome takes at most `triadBytesMax` of `core/record-sizes.ts` for its triad, however much plan and members
 *        wrote.
 *   BT2. Omitted parts are in the reports. The fact that a point stayed disputed is never omitted.
 */
export function boundTriad(triad: TriadOutcome): TriadOutcome {
  const { type, reason, members, phases, dissent, failure } = triad;
  const { dissentCarriedMax, triadTextCharsMax } = engineLimits;
  return {
    type,
    reason: cutText(reason, triadTextCharsMax),
    members: members.map(({ name, role, agent_id, model }) => ({
      name,
      role,
      agent_id,
      ...(model !== undefined && { model }),
    })),
    phases,
    dissent: dissent.slice(0, dissentCarriedMax),
    failure:
      failure === null
        ? null
        : { ...failure, message: cutText(failure.message, triadTextCharsMax) },
  };
}

/**
 * Builds the report of an attempt at a phase.
 *
 * Invariants:
 *   PR1. The report of a failed or stopped attempt contains everything that was recorded until then.
 */

interface PhaseEnd {
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

/**
 * Decides whether a failed phase gets another attempt, which resumes at the failed turn.
 *
 * Invariants:
 *   PA1. A phase gets at most `phaseAttemptsMax` attempts.
 *   PA2. Only a failure that may not recur in the same turn is retried: of the model's reply, or of time.
 *   PA3. Nothing is retried while the result of a call that may have changed something outside is unknown.
 *
 * @param attempt Number of the failed attempt, from 1.
 */
export function mayRetry(
  why: FailureReason,
  attempt: number,
  effects: readonly KnownEffect[],
): boolean {
  const isUnclear = effects.some(({ state }) => state === 'unverified' || state === 'intended');
  const isWorthwhile = why === 'timed_out' || isWorthRepeating(why);
  return attempt < engineLimits.phaseAttemptsMax && isWorthwhile && !isUnclear;
}
